// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The processors of this machine, and what they are parts of. Layer: tools.
///
/// Threads: one. Errors: what the system does not tell counts as one object for all processors.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace starling::mpiexec {

/// What ranks are bound to, or take in turn; small ones first.
enum class Unit : std::uint8_t {
  none,       ///< not said, or nothing
  processor,  ///< hardware threads in the order of the system's numbers
  hwthread,
  core,
  l1cache,
  l2cache,
  l3cache,
  numa,
  socket,
  machine
};
inline constexpr std::size_t kUnits = static_cast<std::size_t>(Unit::machine) + 1;

struct Processor {
  int number = 0;                    ///< as the system counts
  std::array<int, kUnits> object{};  ///< by Unit: which one it belongs to; unique in the machine
};

/// The machine's order: sockets, in them NUMA domains, in them caches, cores and hardware threads.
using Machine = std::vector<Processor>;

/// The processors that this process may use.
[[nodiscard]] Machine machine_here();

/// Brings processors into the machine's order.
void put_in_order(Machine& machine);

/// The processors of each object of one kind, as indices into `machine`, in its order.
[[nodiscard]] std::vector<std::vector<std::size_t>> objects_of(const Machine& machine, Unit unit);

}  // namespace starling::mpiexec
