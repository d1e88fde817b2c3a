// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  An ordered list of processes, as a group gives it to the floors below. Layer: core.
///
/// Threads:   immutable; any.
/// Ownership: shared, since communicators, pml contexts and creations outlive each other in any order.

#include <cstdint>
#include <memory>
#include <optional>

#include "core/ids.hpp"

namespace starling {

class ProcList {
 public:
  virtual ~ProcList() = default;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// The process with this index; the index is below size().
  [[nodiscard]] virtual ProcId at(std::uint32_t index) const noexcept = 0;
  /// The index of a process, or nothing when it is not a member. O(1) expected.
  [[nodiscard]] virtual std::optional<std::uint32_t> find(ProcId proc) const noexcept = 0;
  /// Whether the list says of itself that it is a process and those with the next higher ranks, in this
  /// order: what is done with such a list need not walk over it. A no is always right.
  [[nodiscard]] virtual bool consecutive() const noexcept = 0;
};

using ProcListPtr = std::shared_ptr<const ProcList>;

}  // namespace starling
