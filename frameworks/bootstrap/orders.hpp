// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Whether all members give the group in the same order, as far as a subtree knows. Layer: framework.
///
/// It goes up the tree with each join; only the lowest member judges, when all have joined. A member that
/// finds a difference waits for the answer to its join as usual. If it sent an error by itself, that could
/// meet the next creation of a member that has already heard of the error.
///
/// Threads: values; any.
/// Errors:  bits from another process may have any value; at worst the error's text is wrong.

#include <cstdint>
#include <optional>

#include "core/proc_list.hpp"
#include "core/result.hpp"
#include "core/worlds.hpp"

namespace starling::bootstrap {

class Orders {
 public:
  /// The order of this process alone; `worlds` knows the worlds of all members.
  Orders(const Worlds& worlds, const ProcList& members);
  /// What came with a join.
  [[nodiscard]] static Orders read(std::uint64_t bits) noexcept { return Orders(bits); }
  /// 63 bits.
  [[nodiscard]] std::uint64_t written() const noexcept { return bits_; }

  /// Adds the subtree of `child`, as `self` sees it.
  void add(ProcId self, ProcId child, Orders below) noexcept;
  /// The error for all members, if there are two that differ. `where`: the creation, for people.
  [[nodiscard]] std::optional<Error> error(const std::string& where) const;

 private:
  explicit Orders(std::uint64_t bits) noexcept : bits_(bits) {}
  [[nodiscard]] bool differ() const noexcept { return (bits_ & 1) != 0; }

  // Bit 0: two differ, and above it their ranks, of 31 bits each; else a hash of the members in their order.
  std::uint64_t bits_;
};

}  // namespace starling::bootstrap
