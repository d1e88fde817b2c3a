// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Calls that bring the handler of their own errors. Layer: mpi. MPI 5.0 sections 7.4.2, 11.3.1.
///
/// MPI_Session_init and the makers of communicators from groups have no object yet whose handler could be
/// asked; whatever goes wrong in them, wrong arguments too, is raised by the handler among their arguments.
///
/// Threads:   lives on the stack of one call, between its Call and the end of it.
/// Ownership: keeps the handler alive.

#include "mpi/errhandler/errhandler.hpp"

namespace starling::mpi {

class Call;

class CallHandler {
 public:
  /// `handler` is an argument that has not been checked: one that does not exist, or was made for another
  /// kind of object, is left alone, and the call's errors are raised as those of any other call.
  CallHandler(const Call& call, MPI_Errhandler handler, Kind kind);
  ~CallHandler();
  CallHandler(const CallHandler&) = delete;
  CallHandler& operator=(const CallHandler&) = delete;

  /// The one of `call`, or null. It is told once: a handler that never returns leaves nothing behind.
  [[nodiscard, gnu::cold]] static const CallHandler* take(const Call& call) noexcept;
  /// Raises `code` on the object that the call could not make.
  [[nodiscard, gnu::cold]] int raise(int code, std::string_view text) const;

 private:
  const Call* call_;
  CallHandler* outer_;  ///< of a call during whose progress this one is made
  Ref<Errhandler> handler_;
  Kind kind_;
};

}  // namespace starling::mpi
