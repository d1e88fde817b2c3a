// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The parameters that several processes must have alike, as text that one sends to another.
/// Layer: params.
///
/// Threads:   functions of their arguments.
/// Ownership: plain values.
/// Errors:    a list from another process is text that is shown, never trusted: a broken line is left out.

#include <string>
#include <string_view>

#include "params/registry.hpp"

namespace starling::params {

/// A text on one line, and not too long.
[[nodiscard]] std::string shown(std::string_view text);

/// A line for each parameter that those processes must have alike: `name <tab> value <tab> origin`.
[[nodiscard]] std::string list_of(const Registry& params, Alike alike);

/// What differs between two lists, for people, with who and origin of both; empty: nothing that is visible.
/// The first line of each list says whose it is.
[[nodiscard]] std::string differences(std::string_view mine, std::string_view theirs);

}  // namespace starling::params
