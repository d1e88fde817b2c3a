// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Messages to people, on stderr. Layer: core.
///
/// One line is one write(2), so that lines of several ranks do not mix. Nothing is printed in normal
/// operation: no banners.
/// Threads: any.
/// Errors: a failed write is ignored.

#include <string>
#include <string_view>

namespace starling::log {

enum class Level { error = 0, warning = 1, info = 2, debug = 3 };

/// Prefix of every line, set once this process knows its rank, e.g. "[starling rank 3]"; "[starling]" before.
void set_prefix(std::string prefix);
/// Lines above this level are dropped; the default is warning (parameter log_level).
void set_level(Level level) noexcept;
[[nodiscard]] Level level() noexcept;

void error(std::string_view text);
void warning(std::string_view text);
void info(std::string_view text);
void debug(std::string_view text);

}  // namespace starling::log
