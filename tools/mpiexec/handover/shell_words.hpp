// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Words as a shell takes them. Layer: tools.
///
/// Threads: functions of their arguments. Errors: none.

#include <string>
#include <vector>

namespace starling::mpiexec {

/// The word as it is if a shell would not change it, else between quotes.
[[nodiscard]] std::string quoted(const std::string& word);
/// A command for a shell, or for people to paste.
[[nodiscard]] std::string joined(const std::vector<std::string>& words);

}  // namespace starling::mpiexec
