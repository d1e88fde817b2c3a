// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What this process has sent, by class of pair: to itself, within the node, beyond it. Layer: mpi.
///
/// Threads: under the runtime's lock.
/// Units:   messages, and bytes of payload (frameworks/pml/traffic.hpp).

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "frameworks/pml/traffic.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {

enum class PairClass : std::uint32_t { self = 0, node = 1, remote = 2 };
inline constexpr std::array<std::string_view, 3> kPairClassNames = {"self", "node", "remote"};

/// All pairs of a class whose messages one transport carries.
struct ClassTraffic {
  PairClass pairs{};
  std::string_view transport;
  std::uint64_t peers = 0;
  pml::Traffic sent;
};

/// Adds up what was sent.
pml::Traffic& operator+=(pml::Traffic& sum, const pml::Traffic& more) noexcept;

/// Self first, remote last; only classes with at least one peer.
[[nodiscard]] std::vector<ClassTraffic> class_traffic(Runtime& runtime);

}  // namespace starling::mpi
