// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Error handlers: what happens with an error of an MPI call. Layer: mpi. MPI 5.0 section 9.3.
///
/// Threads:   immutable after construction; invoke() from any thread, without the runtime's lock held.
/// Ownership: reference-counted by the objects they are attached to.
/// Errors:    invoke() returns the code that the MPI call returns; a fatal handler does not return.

#include <cstdint>
#include <string_view>

#include "mpi.h"
#include "mpi/handle.hpp"

namespace starling::mpi {

class Errhandler final : public Object {
 public:
  enum class Action : std::uint8_t { fatal, abort, give_back, call_user };

  /// One of the three predefined handlers.
  explicit Errhandler(Action action) noexcept : action_(action) {}
  explicit Errhandler(MPI_Comm_errhandler_function* function) noexcept : attaches_to_(Kind::comm) {
    function_.comm = function;
  }
  explicit Errhandler(MPI_Win_errhandler_function* function) noexcept : attaches_to_(Kind::win) {
    function_.win = function;
  }
  explicit Errhandler(MPI_File_errhandler_function* function) noexcept : attaches_to_(Kind::file) {
    function_.file = function;
  }
  explicit Errhandler(MPI_Session_errhandler_function* function) noexcept : attaches_to_(Kind::session) {
    function_.session = function;
  }

  [[nodiscard]] Action action() const noexcept { return action_; }
  /// True if it may be attached to an object of this kind: predefined ones to all, a user's to the kind it
  /// was made for.
  [[nodiscard]] bool fits(Kind kind) const noexcept {
    return action_ != Action::call_user || attaches_to_ == kind;
  }

  /// Handles `code` of the object (kind, handle). `text` is the whole message: "MPI_Send: dest is 7, expected
  /// 0..3".
  int invoke(Kind kind, HandleBits object, int code, std::string_view text) const;

  /// How many handles of it the user holds: created, or got from an object. The handle ends with the last
  /// one; attached objects keep the handler itself. Guarded by a mutex of mpi/api/errhandler.
  std::uint32_t user_handles = 0;

 private:
  Action action_ = Action::call_user;
  Kind attaches_to_ = Kind::comm;
  union {
    MPI_Comm_errhandler_function* comm = nullptr;
    MPI_Win_errhandler_function* win;
    MPI_File_errhandler_function* file;
    MPI_Session_errhandler_function* session;
  } function_;
};

/// The handler of MPI_FILE_NULL, which new files get: MPI_ERRORS_RETURN until it is changed (section 9.3.3).
/// Any thread.
[[nodiscard]] Ref<Errhandler> file_errhandler();
void set_file_errhandler(Ref<Errhandler> handler);

}  // namespace starling::mpi
