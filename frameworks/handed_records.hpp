// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The plugin records of an installation, read once by mpiexec for all ranks. Layer: framework.
///
/// Opening and reading the files of the plugin directory is a tenth of a rank's start. So mpiexec writes what
/// it has read into a memfd that nobody can change any more, and ranks inherit it. Who finds none, or one of
/// another directory or build, reads the files itself. See docs/design/plugins.md.
///
/// Threads:   any. Ownership: what handed_records() gives refers to a mapping that stays.
/// Errors:    a descriptor that is not what it should be counts as none.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/unique_fd.hpp"
#include "frameworks/examine.hpp"

namespace starling::plugin {

/// Environment variable with the number of the descriptor. Both stay inheritable: a rank may be a shell.
inline constexpr char kHandedRecordsVariable[] = "STARLING_PLUGIN_RECORDS";

/// Of these, the candidates whose files lie in the directory.
[[nodiscard]] Result<UniqueFd> write_records(const std::string& directory,
                                             std::span<const Candidate> plugins);

/// The records in such memory, as far as it is of this directory and this build; what it gives refers to it.
/// Empty: it is not, or it is damaged.
[[nodiscard]] std::optional<std::vector<Candidate>> read_records(std::span<const std::byte> bytes,
                                                                 const std::string& directory);

/// What mpiexec has read in this directory; empty: it has handed nothing of it down. Not in a set-uid one.
[[nodiscard]] std::optional<std::vector<Candidate>> handed_records(const std::string& directory);

}  // namespace starling::plugin
