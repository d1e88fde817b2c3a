// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The hosts that a command line or a host file names. Layer: tools.
///
/// Threads: one. Errors: bad_parameter names the host as it was written.

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace starling::mpiexec {

struct Host {
  std::string name;
  std::uint32_t slots = 0;  ///< 0: not said
};

/// Reads "name" and "name:slots". A name that comes again adds to its slots; the order is that of first
/// mention. "user@name" is taken if that is the user who runs this.
[[nodiscard]] Result<std::vector<Host>> read_hosts(const std::vector<std::string>& written);

/// Whether a host of that name is the one that this process runs on. Asks the resolver for unknown names.
[[nodiscard]] bool is_this_machine(const std::string& name);

/// This machine's own name; "localhost" if it has none.
[[nodiscard]] std::string host_name();

}  // namespace starling::mpiexec
