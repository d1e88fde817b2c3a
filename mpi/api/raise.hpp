// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Calls that bring the handler of their own errors. Layer: mpi. MPI 5.0 sections 7.4.2, 11.3.1.
///
/// MPI_Session_init and the functions that make communicators from groups have no object yet whose handler
/// could be called. So all their errors, those of wrong arguments included, are raised by the handler among
/// their arguments.
///
/// Threads:   lives on the stack of one call, from its Call to the end of the function.
/// Ownership: keeps the handler alive.

#include "mpi/errhandler/errhandler.hpp"

namespace starling::mpi {

class Call;

class CallHandler {
 public:
  /// `handler` is an argument that has not been checked. If it does not exist, or was made for another kind
  /// of object, it is not used, and the errors of the call are raised as those of any other call.
  CallHandler(const Call& call, MPI_Errhandler handler, Kind kind);
  ~CallHandler();
  CallHandler(const CallHandler&) = delete;
  CallHandler& operator=(const CallHandler&) = delete;

  /// The CallHandler of `call`, or null. It is returned once and then forgotten, since the handler may never
  /// return.
  [[nodiscard, gnu::cold]] static const CallHandler* take(const Call& call) noexcept;
  /// Raises `code` on the object that the call could not make.
  [[nodiscard, gnu::cold]] int raise(int code, std::string_view text) const;

 private:
  const Call* call_;
  CallHandler* outer_;  ///< of an outer call, if this one is made while that makes progress
  Ref<Errhandler> handler_;
  Kind kind_;
};

}  // namespace starling::mpi
