// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Engines that tell senders of receives that wait. Layer: tests.

#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {

inline constexpr std::size_t kLongMessage = 5000;

struct EarlyJob : Job {
  explicit EarlyJob(std::uint32_t size = 2, EarlyPush use = EarlyPush::always, PairOptions options = usual())
      : Job(size, options, Large::ring, config_with(use)) {
    for (std::uint32_t rank = 1; rank < size; ++rank) meet(rank);
  }
  static PairOptions usual() {
    PairOptions options;
    options.writes = options.copies = true;
    return options;
  }
  static Config config_with(EarlyPush use) {
    Config config;
    config.announced_max = 2;
    config.early_push = use;
    return config;
  }
  /// Rank 0 and this one have endpoints to each other.
  void meet(std::uint32_t rank) {
    for (const std::uint32_t to : {0u, rank}) {
      auto send = isend(rank - to, int(to), 9, filled(8, 9));
      auto receive = irecv(to, int(rank - to), 9, 8);
      settle();
      ASSERT_TRUE(send->complete() && receive->complete());
    }
  }
  std::size_t sent(std::uint32_t rank, wire::Kind kind) {
    return network.at(rank).sent(static_cast<std::uint8_t>(kind));
  }
  std::size_t invited(std::uint32_t rank = 1) { return sent(rank, wire::Kind::invite); }
  std::size_t early() { return sent(0, wire::Kind::early); }
  std::size_t announced() { return sent(0, wire::Kind::rts); }
};

}  // namespace starling::pml::test
