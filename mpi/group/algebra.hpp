// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Operations on groups: subsets, unions, comparison. Layer: mpi. MPI 5.0 section 7.3.2.
///
/// Strided groups are combined without listing their members where the result is strided by its form;
/// otherwise the members are listed once and the result finds its own stride.
///
/// Threads:   pure functions; any.
/// Errors:    bad_parameter for a rank outside the group, a repetition, a range that runs the wrong way.

#include <span>

#include "core/result.hpp"
#include "mpi/group/group.hpp"

namespace starling::mpi {

enum class Likeness { identical, similar, unequal };
/// identical: same members in the same order; similar: same members.
[[nodiscard]] Likeness compare(const ProcList& a, const ProcList& b);

/// Every member of `some` is one of `all`.
[[nodiscard]] bool includes(const ProcList& all, const ProcList& some);

[[nodiscard]] ProcListPtr union_of(const ProcListPtr& a, const ProcListPtr& b);
[[nodiscard]] ProcListPtr intersection_of(const ProcListPtr& a, const ProcListPtr& b);
[[nodiscard]] ProcListPtr difference_of(const ProcListPtr& a, const ProcListPtr& b);

/// The members with these ranks, in this order.
[[nodiscard]] Result<ProcListPtr> include(const ProcListPtr& group, std::span<const int> ranks);
/// The members without these ranks, in the group's order.
[[nodiscard]] Result<ProcListPtr> exclude(const ProcListPtr& group, std::span<const int> ranks);

/// first, first + stride, ... up to last (MPI_Group_range_incl).
struct RankRange {
  int first = 0, last = 0, stride = 1;
};
[[nodiscard]] Result<ProcListPtr> include_ranges(const ProcListPtr& group, std::span<const RankRange> ranges);
[[nodiscard]] Result<ProcListPtr> exclude_ranges(const ProcListPtr& group, std::span<const RankRange> ranges);

}  // namespace starling::mpi
