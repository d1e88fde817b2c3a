// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A process manager of one process, whose fences a test ends. Layer: tests.

#include <optional>
#include <string>
#include <vector>

#include "frameworks/pmi/pmi.hpp"

namespace starling::test {

class FakePmi : public pmi::Component {
 public:
  explicit FakePmi(std::uint32_t size = 1, std::uint32_t rank = 0) {
    identity_.size = size;
    identity_.rank = rank;
    identity_.job = "job";
  }
  // What happened, in order: "enter world", "left 0", "abandon 0".
  std::vector<std::string> log;
  std::uint32_t entered = 0;
  bool everybody_came = false;
  std::optional<Error> refuses;

  const pmi::Identity& identity() const noexcept override { return identity_; }
  const pmi::Capabilities& capabilities() const noexcept override { return capabilities_; }
  Result<void> put(std::string_view, std::span<const std::byte>) override { return {}; }
  Result<pmi::Lookup> get(std::uint32_t, std::string_view) override { return pmi::Lookup{}; }
  Result<void> fence(Deadline) override { return {}; }
  Result<void> fence(std::span<const std::uint32_t>, std::string_view, Deadline) override { return {}; }
  Result<pmi::Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                 Deadline) override {
    log.push_back(ranks.empty() ? "enter world" : "enter " + std::string(tag));
    if (refuses) return fail(*refuses);
    return pmi::Fence{entered++};
  }
  Result<bool> fence_left(pmi::Fence fence) override {
    if (everybody_came) log.push_back("left " + std::to_string(fence.number));
    return everybody_came;
  }
  void fence_abandon(pmi::Fence fence) noexcept override {
    log.push_back("abandon " + std::to_string(fence.number));
  }
  Result<void> publish(std::string_view, std::string_view) override { return {}; }
  Result<std::string> lookup(std::string_view) override { return std::string(); }
  Result<void> unpublish(std::string_view) override { return {}; }
  void set_active(bool) noexcept override {}
  void abort(int, std::string_view) noexcept override {}
  int wait_fd() const noexcept override { return -1; }
  Result<void> check() override { return {}; }
  Counters counters() const noexcept override { return {}; }

 private:
  pmi::Identity identity_;
  pmi::Capabilities capabilities_;
};

}  // namespace starling::test
