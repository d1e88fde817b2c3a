// SPDX-License-Identifier: BSD-3-Clause
// Errors from errno, and the end of a process whose own code is wrong. Layer: core.

#include "core/result.hpp"

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "core/flush.hpp"

namespace starling {

Error system_error(std::string where, std::string detail, int error_number) {
  detail += ": ";
  detail += std::generic_category().message(error_number);
  return Error{Errc::system, std::move(where), std::move(detail)};
}

void expectation_failed(const char* text, const char* file, int line) noexcept {
  std::fprintf(stderr, "[starling] bug in Starling: %s (%s:%d); please report it\n", text, file, line);
  flush_streams();
  std::abort();
}

}  // namespace starling
