// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the ranks of a job have published by PMIx_Publish: the names of MPI_Publish_name. Layer:
///        tools.
///
/// Threads:   the callbacks run in libpmix's thread alone, so the table has no lock.
/// Ownership: texts are copied.
/// Errors:    PMIx's own: a name that is there already, or is not; whose it is; values that are no text.

#include <pmix_server.h>

namespace starling::mpiexec {

/// Makes a server answer publish, lookup and unpublish.
void serve_names(pmix_server_module_t& module) noexcept;

}  // namespace starling::mpiexec
