// SPDX-License-Identifier: BSD-3-Clause
// Error handlers, classes, codes and texts. Layer: mpi. MPI 5.0 sections 9.3 to 9.5.

#include "mpi/errhandler/errhandler.hpp"

#include <mutex>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/api/entry.hpp"
#include "mpi/api/text.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/errhandler/codes.hpp"
#include "mpi/error.hpp"
#include "mpi/onesided/window.hpp"
#include "mpi/session/session.hpp"
#include "mpi/world/world.hpp"

namespace starling::mpi::api {
namespace {

/// Guards Errhandler::user_handles: handlers are made, handed out and freed at any time by any thread.
std::mutex& handles_mutex() {
  static std::mutex* const instance = new std::mutex;
  return *instance;
}

/// Gives the user one more reference, under the handle that exists or a new one.
int hand_out(Errhandler& handler, MPI_Errhandler* out) {
  const std::scoped_lock lock(handles_mutex());
  if (!handler.predefined() || handler.handle() == 0) {
    if (handler.user_handles == 0 && tables().errhandler.insert(&handler) == 0) {
      *out = MPI_ERRHANDLER_NULL;
      return too_many("error handlers");
    }
    handler.retain();
    ++handler.user_handles;
  }
  *out = as_handle<MPI_Errhandler>(handler.handle());
  return MPI_SUCCESS;
}

template <class Function>
int create(Function* function, MPI_Errhandler* out) {
  const auto made = Ref<Errhandler>::adopt(new Errhandler(function));
  return hand_out(*made, out);
}

int give(const Ref<Errhandler>& attached, MPI_Errhandler* out) {
  if (attached) return hand_out(*attached, out);
  return hand_out(*tables().errhandler.find(registry().initial_errhandler.load(std::memory_order_acquire)),
                  out);
}

int attach(Ref<Errhandler>& to, Errhandler& handler, Kind kind) {
  if (!handler.fits(kind)) return check::wrong_errhandler("errhandler", kind);
  to = Ref<Errhandler>::share(&handler);
  return MPI_SUCCESS;
}

int bad_code(int code) {
  return error(MPI_ERR_ARG, "errorcode is " + std::to_string(code) + ", which is no error code or class");
}

/// Section 9.3: calls the handler as an error of the object would. The handler may never return, so the lock
/// is given away.
int call(Kind kind, HandleBits object, const char* function, int code) {
  const std::string text = std::string(function) + ": " + error_text(code);
  const std::uint32_t depth = registry().lock.release_all();
  raise_on(kind, object, code, text);
  registry().lock.reacquire(depth);
  return MPI_SUCCESS;
}

}  // namespace

int Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(comm_errhandler_fn, errhandler);
}
int Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(win_errhandler_fn, errhandler);
}
int File_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(file_errhandler_fn, errhandler);
}
int Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                              MPI_Errhandler* errhandler) {
  return create(session_errhandler_fn, errhandler);
}

int Errhandler_free(MPI_Errhandler* errhandler) {
  Errhandler& handler = *find_errhandler(*errhandler);
  const std::scoped_lock lock(handles_mutex());
  // A predefined one comes out of MPI_Comm_get_errhandler, too, and may then be freed without effect.
  if (!handler.predefined()) {
    if (--handler.user_handles == 0) {
      tables().errhandler.remove(as_bits(*errhandler));
      handler.set_handle(0);
    }
    handler.drop();
  }
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

int Comm_set_errhandler(Comm& comm, Errhandler& errhandler) {
  const int rc = attach(comm.errhandler, errhandler, Kind::comm);
  if (rc == MPI_SUCCESS) world().handler_chosen(comm.handle());
  return rc;
}
int Comm_get_errhandler(Comm& comm, MPI_Errhandler* errhandler) { return give(comm.errhandler, errhandler); }
int Comm_call_errhandler(Comm& comm, int errorcode) {
  return call(Kind::comm, comm.handle(), names::Comm_call_errhandler, errorcode);
}

int Win_set_errhandler(Win& win, Errhandler& errhandler) {
  return attach(win.errhandler, errhandler, Kind::win);
}
int Win_get_errhandler(Win& win, MPI_Errhandler* errhandler) { return give(win.errhandler, errhandler); }
int Win_call_errhandler(Win& win, int errorcode) {
  return call(Kind::win, win.handle(), names::Win_call_errhandler, errorcode);
}

int Session_set_errhandler(Session& session, Errhandler& errhandler) {
  return attach(session.errhandler, errhandler, Kind::session);
}
int Session_get_errhandler(Session& session, MPI_Errhandler* errhandler) {
  return give(session.errhandler, errhandler);
}
int Session_call_errhandler(Session& session, int errorcode) {
  return call(Kind::session, session.handle(), names::Session_call_errhandler, errorcode);
}

// The default for new files, which MPI_FILE_NULL stands for; there are no open files yet.
int File_set_errhandler(MPI_File file, Errhandler& errhandler) {
  if (file != MPI_FILE_NULL) return check::bad_handle(Kind::file, "file", as_bits(file));
  Ref<Errhandler> handler;
  if (const int rc = attach(handler, errhandler, Kind::file); rc != MPI_SUCCESS) return rc;
  set_file_errhandler(std::move(handler));
  return MPI_SUCCESS;
}
int File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  if (file != MPI_FILE_NULL) return check::bad_handle(Kind::file, "file", as_bits(file));
  return give(file_errhandler(), errhandler);
}
int File_call_errhandler(MPI_File fh, int errorcode) {
  if (fh != MPI_FILE_NULL) return check::bad_handle(Kind::file, "fh", as_bits(fh));
  return call(Kind::file, as_bits(fh), names::File_call_errhandler, errorcode);
}

int Error_string(int errorcode, char* string, int* resultlen) {
  if (!error_known(errorcode)) return bad_code(errorcode);
  std::string text = error_text(errorcode);
  // The last failure of this thread says more than its class. The text of a user's code is the user's
  // (section 9.5): a callback that returned it knows what it means, and may compare it.
  const std::string_view raised = raised_text(errorcode);
  if (!raised.empty() && !error_name(errorcode).empty()) text += " (" + std::string(raised) + ")";
  *resultlen = copy_text(text, string, MPI_MAX_ERROR_STRING);
  return MPI_SUCCESS;
}

int Error_class(int errorcode, int* errorclass) {
  if (!error_known(errorcode)) return bad_code(errorcode);
  *errorclass = error_class_of(errorcode);
  return MPI_SUCCESS;
}

int Add_error_class(int* errorclass) {
  *errorclass = add_error_class();
  return MPI_SUCCESS;
}

int Add_error_code(int errorclass, int* errorcode) {
  if (!error_known(errorclass) || error_class_of(errorclass) != errorclass) {
    return error(MPI_ERR_ARG, "errorclass is " + std::to_string(errorclass) + ", which is no error class");
  }
  *errorcode = add_error_code(errorclass);
  return MPI_SUCCESS;
}

int Add_error_string(int errorcode, const char* string) {
  const std::string_view text = string;
  if (text.size() >= MPI_MAX_ERROR_STRING) {
    return error(MPI_ERR_ARG, "string has " + std::to_string(text.size()) + " characters, expected at most " +
                                  std::to_string(MPI_MAX_ERROR_STRING - 1));
  }
  if (set_error_text(errorcode, std::string(text))) return MPI_SUCCESS;
  return error(MPI_ERR_ARG,
               "errorcode is " + std::to_string(errorcode) + ", expected one that the application added");
}

int Remove_error_class(int errorclass) { return remove_error_class(errorclass); }
int Remove_error_code(int errorcode) { return remove_error_code(errorcode); }
int Remove_error_string(int errorcode) { return remove_error_text(errorcode); }

}  // namespace starling::mpi::api
