// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The guard of every generated entry point: lock, exceptions, error handlers. Layer: mpi. See
/// docs/design/mpi.md.
///
/// Threads:   any; a Call lives on the stack of one MPI call.
/// Ordering:  the lock is given back before an error handler runs, so that the handler may call MPI or never
///            return.
/// Errors:    exceptions end here: std::bad_alloc becomes MPI_ERR_NO_MEM, all others MPI_ERR_INTERN. What an
///            error handler throws passes through to the application.

#include "mpi/api/checks.hpp"
#include "mpi/api/raise.hpp"
#include "mpi/handles.hpp"
#include "mpi/process/lock.hpp"
#include "mpi/process/registry.hpp"

namespace starling::mpi {

class Call {
 public:
  Call(const char* name, Hold::Mode mode) noexcept : name_(name), hold_(the_registry.lock, mode) {}

  /// The object whose error handler is asked; the first one named stays.
  void on(Kind kind, HandleBits object) noexcept {
    if (object_ != 0) return;
    kind_ = kind;
    object_ = object;
  }
  /// A group refers to the session that it comes from (MPI 5.0 section 9.3), if any.
  void on_session_of(const Group& group) noexcept;

  /// Runs the body of an entry point: checks and implementation, which return an error class or code.
  template <class Body>
  int run(Body&& body) {
    int code = MPI_SUCCESS;
    try {
      code = body();
    } catch (...) {
      code = caught();
    }
    if (code == MPI_SUCCESS) [[likely]]
      return code;
    return raise(code);
  }

 protected:
  [[nodiscard]] Hold& hold() noexcept { return hold_; }

 private:
  [[gnu::cold, gnu::noinline]] static int caught() noexcept;
  [[gnu::cold, gnu::noinline]] int raise(int code);

  const char* name_;
  Hold hold_;
  Kind kind_ = Kind::comm;
  HandleBits object_ = 0;
};

/// Of the calls that each message makes: a thread that has the lock's bias takes the lock in line.
class HotCall : public Call {
 public:
  [[gnu::always_inline]] explicit HotCall(const char* name) noexcept : Call(name, Hold::none) {
    hold().take_hot(the_registry.lock);
  }
  [[gnu::always_inline]] ~HotCall() { hold().release_hot(); }
  HotCall(const HotCall&) = delete;
  HotCall& operator=(const HotCall&) = delete;
};

/// MPI_T functions give their code back: they have no error handler (MPI 5.0 section 15.3).
template <class Body>
int tool_call(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return MPI_T_ERR_MEMORY;
  }
}

/// Invokes the error handler of the object (or the default one when it is none or has none) with a complete
/// message.
int raise_on(Kind kind, HandleBits object, int code, std::string_view text);

}  // namespace starling::mpi
