// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How code below the entry points reports an MPI error. Layer: mpi. MPI 5.0 section 9.3, 9.4.
///
/// error() keeps the detail for this thread and gives the error class, which implementations return. The
/// generated entry point then invokes the error handler of the object at hand with "MPI_Send: <detail>".
/// MPI_Error_string of the thread's last error gives the detail too. Threads: the detail is thread-local.

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "mpi/handle.hpp"

namespace starling::mpi {

/// Notes why, returns error_class. The text names argument, value and what was expected: "dest is 7, expected
/// 0..3 or MPI_PROC_NULL".
[[nodiscard, gnu::cold]] int error(int error_class, std::string detail);
/// As above, for an Error from a lower floor; its class is that of mpi/error_class.hpp.
[[nodiscard, gnu::cold]] int error(const Error& cause);
/// As error(), to be raised on the communicator with this handle: for calls without a communicator argument
/// (MPI_Wait and its like). mpi/comm/comm.hpp has the form that takes a Comm.
[[nodiscard, gnu::cold]] int error_on(HandleBits comm, int error_class, std::string detail);
/// The table of handles of a kind of `objects` ("groups") is full.
[[nodiscard, gnu::cold]] int too_many(const char* objects);
/// Detail of this thread's last error().
[[nodiscard]] std::string_view last_error_detail() noexcept;

/// What happened since the last take_error() of this thread; for the entry points.
struct Noted {
  int error_class = 0;      ///< 0: nothing
  HandleBits comm = 0;      ///< of error_on(), else 0
  std::string_view detail;  ///< valid until the next error() of this thread
};
[[nodiscard]] Noted take_error() noexcept;

/// What a function of this thread has told its error handler last: "MPI_Send: dest is 7, expected 0..3".
void set_raised(int code, std::string text);
/// The text given to set_raised(); empty if the code was another one. Valid until the thread's next error.
[[nodiscard]] std::string_view raised_text(int code) noexcept;

}  // namespace starling::mpi
