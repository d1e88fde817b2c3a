// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Error classes and codes: the standard's and those that users add. Layer: mpi. MPI 5.0
/// sections 9.4, 9.5.
///
/// Threads: any, also before MPI is initialised; user codes are guarded by a mutex. Errors: MPI error
/// classes.

#include <string>
#include <string_view>

namespace starling::mpi {

/// Name of a predefined error class, "MPI_ERR_RANK"; empty if it is none.
[[nodiscard]] std::string_view error_name(int error_class) noexcept;
/// What MPI_Error_string says about a class or code (without a detail): name and meaning, a user's text, or
/// "unknown error code 1234".
[[nodiscard]] std::string error_text(int code);
/// True for MPI_SUCCESS, the standard's classes and what users added.
[[nodiscard]] bool error_known(int code) noexcept;
/// The class of a code.
[[nodiscard]] int error_class_of(int code) noexcept;

/// A new class; it is its own first code.
[[nodiscard]] int add_error_class();
/// A new code of a class.
[[nodiscard]] int add_error_code(int error_class);
/// The text of a user's class or code; false if it is not one.
[[nodiscard]] bool set_error_text(int code, std::string text);
/// Removes a user's class, code or text: MPI_SUCCESS or why not.
[[nodiscard]] int remove_error_class(int error_class);
[[nodiscard]] int remove_error_code(int code);
[[nodiscard]] int remove_error_text(int code);
/// Value of the attribute MPI_LASTUSEDCODE.
[[nodiscard]] int last_used_code() noexcept;

}  // namespace starling::mpi
