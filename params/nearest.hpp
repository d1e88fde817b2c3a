// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What somebody may have meant by a name that does not exist. Layer: params. Threads: pure functions.

#include <span>
#include <string>
#include <string_view>

namespace starling::params {

/// Smallest number of inserted, removed, replaced or swapped neighbouring characters that turns `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of `names`, or empty when none is near enough to be meant: at most a third of the letters
/// differ, or one of the two is the beginning of the other. Equal distances: the first one.
[[nodiscard]] std::string nearest(std::string_view name, std::span<const std::string_view> names);

}  // namespace starling::params
