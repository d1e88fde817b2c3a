// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Several engines over the test btl, whose chooser a test forces. Layer: test.

#include <memory>
#include <vector>

#include "frameworks/pml/engine.hpp"
#include "tests/conformance/pml/job.hpp"

namespace starling::pml::test {

class Forced final : public Chooser {
 public:
  explicit Forced(Large large) : large_(large) {}
  LargeChoice choose(const LargeReceive& receive) noexcept override {
    its_protocol = receive.peer.large.its_protocol(receive.bytes);
    its_of_longer = receive.peer.large.its_protocol(4 * receive.bytes);
    const bool wanted = large_ != Large::lend || receive.both;
    return {wanted && receive.can(large_) ? large_ : Large::ring, tries};
  }
  void took(std::uint32_t trial, std::uint64_t bytes, std::uint64_t ns) noexcept override {
    taken.push_back({trial, bytes, ns});
  }
  std::vector<std::string> notes() const override { return {}; }

  Large its_protocol = Large::ring;   ///< of the peer, when a way was chosen last
  Large its_of_longer = Large::ring;  ///< the same for messages of another class of sizes
  std::uint32_t tries = 0;            ///< LargeChoice::trial from now on
  struct Taken {
    std::uint32_t trial;
    std::uint64_t bytes, ns;
  };
  std::vector<Taken> taken;

 private:
  Large large_;
};

class Job : public JobOf<std::unique_ptr<Engine>> {
 public:
  explicit Job(std::uint32_t size, const PairOptions& options = {}, Large large = Large::ring,
               Config config = {})
      : JobOf(size, options) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      config.self = {0, rank};
      config.world_size = size;
      auto policy = std::make_unique<Forced>(large);
      policies.push_back(policy.get());
      join([&](peer::Peers& its) { return std::make_unique<Engine>(its, config, std::move(policy)); });
    }
  }

  std::vector<Forced*> policies;  // the engines'
};

}  // namespace starling::pml::test
