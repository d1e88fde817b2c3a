// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How long a suite waits for what has to happen. Layer: tests.

#include <cstdint>
#include <cstdlib>

#include "core/clock.hpp"

namespace starling::conformance {

/// STARLING_CONFORMANCE_PATIENCE seconds, 30 unless set. A sound plugin is never waited for so long, so only
/// the tests of broken ones set less.
inline Deadline patience() {
  const char* const given = std::getenv("STARLING_CONFORMANCE_PATIENCE");
  const long seconds = given == nullptr ? 0 : std::strtol(given, nullptr, 10);
  return Deadline::after_seconds(seconds > 0 ? static_cast<std::uint64_t>(seconds) : 30);
}

}  // namespace starling::conformance
