// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which parts of the machine this process is restricted to. Layer: mpi. MPI 5.0 sections 7.4.2
/// and 9.1.3.
///
/// hwloc is loaded at the first question, so that the library itself does not need it. Without hwloc there is
/// no resource type, and nothing else changes.
///
/// Threads:   any, one at a time.
/// Units:     places are logical indexes of hwloc objects within the node.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starling::mpi::hardware {

/// One type of resource and this process's instance of it.
struct Place {
  std::string type;          ///< "hwloc://Package"
  std::optional<int> index;  ///< empty: not restricted to one instance
};

/// All types that this node has, from the whole machine down to one hardware thread, with the binding as it
/// is now. Empty without hwloc.
[[nodiscard]] std::vector<Place> places();

/// The L3 cache, NUMA node and package that this process is bound to, in this order. -1: it may run in
/// several, or there is none. All three are -1 if it may run everywhere, which is found out without hwloc.
[[nodiscard]] std::array<std::int32_t, 3> domains();

/// Whether `name` means this type: in any case of letters, with or without "hwloc://".
[[nodiscard]] bool same_type(std::string_view type, std::string_view name);

}  // namespace starling::mpi::hardware
