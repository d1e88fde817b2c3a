// SPDX-License-Identifier: BSD-3-Clause
// Raising of errors: the text, the handler that is asked, and the edge where exceptions stop. Layer: mpi.

#include "mpi/api/entry.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "mpi/comm/comm.hpp"
#include "mpi/errhandler/codes.hpp"
#include "mpi/errhandler/errhandler.hpp"
#include "mpi/error.hpp"
#include "mpi/onesided/window.hpp"
#include "mpi/session/session.hpp"
#include "mpi/world/world.hpp"

namespace starling::mpi {
namespace {

/// The handler of an object; empty when there is no such object.
Ref<Errhandler> handler_of(Kind kind, HandleBits object) {
  if (object == 0) return {};
  if (kind == Kind::comm) {
    if (const Comm* const comm = tables().comm.find(object); comm != nullptr) return comm->errhandler;
  }
  if (kind == Kind::win) {
    if (const Win* const win = tables().win.find(object); win != nullptr) return win->errhandler;
  }
  if (kind == Kind::session) {
    if (const Session* const session = tables().session.find(object); session != nullptr)
      return session->errhandler;
  }
  return {};
}

/// The handler of errors without an object: that of `comm`, or the initial one while there is no world.
Ref<Errhandler> default_handler(HandleBits comm) {
  if (Ref<Errhandler> handler = handler_of(Kind::comm, comm); handler) return handler;
  const HandleBits initial = registry().initial_errhandler.load(std::memory_order_acquire);
  return Ref<Errhandler>::share(tables().errhandler.find(initial));
}

thread_local CallHandler* brought = nullptr;  // by the innermost call of this thread that brings one

}  // namespace

CallHandler::CallHandler(const Call& call, MPI_Errhandler handler, Kind kind)
    : call_(&call), outer_(brought), kind_(kind) {
  Errhandler* const found = find_errhandler(handler);
  if (found != nullptr && found->fits(kind)) handler_ = Ref<Errhandler>::share(found);
  brought = this;
}

CallHandler::~CallHandler() {
  if (brought == this) brought = outer_;
}

const CallHandler* CallHandler::take(const Call& call) noexcept {
  CallHandler* const own = brought;
  if (own == nullptr || own->call_ != &call) return nullptr;
  brought = own->outer_;
  return own->handler_ ? own : nullptr;
}

int CallHandler::raise(int code, std::string_view text) const {
  const bool session = kind_ == Kind::session;
  return handler_->invoke(kind_, session ? as_bits(MPI_SESSION_NULL) : as_bits(MPI_COMM_SELF), code, text);
}

void Call::on_session_of(const Group& group) noexcept {
  if (group.session()) on(Kind::session, group.session()->handle());
}

int raise_on(Kind kind, HandleBits object, int code, std::string_view text) {
  Ref<Errhandler> handler = handler_of(kind, object);
  if (!handler && kind == Kind::file) {
    handler = file_errhandler();  // also for a handle that is no file
    object = as_bits(MPI_FILE_NULL);
  }
  if (!handler) {
    kind = Kind::comm;
    object = world().raises_errors_without_object();
    handler = default_handler(object);
  }
  if (!handler) handler = Ref<Errhandler>::share(tables().errhandler.find(MPI_ERRORS_ARE_FATAL));
  return handler->invoke(kind, object, code, text);
}

int Call::caught() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return error(MPI_ERR_NO_MEM, "out of memory");
  } catch (const std::exception& problem) {
    return error(MPI_ERR_INTERN, std::string("unexpected exception: ") + problem.what());
  } catch (...) {
    return error(MPI_ERR_INTERN, "unexpected exception");
  }
}

int Call::raise(int code) {
  const Noted noted = take_error();
  const bool known = noted.error_class == code && !noted.detail.empty();
  std::string text = name_;
  if (known) text += ": " + std::string(noted.detail);
  set_raised(code, text);
  if (!known) text += ": " + error_text(code);
  if (noted.error_class == code && noted.comm != 0) {
    kind_ = Kind::comm;
    object_ = noted.comm;
  }
  const CallHandler* const own = CallHandler::take(*this);
  hold_.release();
  if (own != nullptr) return own->raise(code, text);
  return raise_on(kind_, object_, code, text);
}

}  // namespace starling::mpi
