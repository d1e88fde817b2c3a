// SPDX-License-Identifier: BSD-3-Clause
// What error handlers do. Layer: mpi. MPI 5.0 section 9.3.

#include "mpi/errhandler/errhandler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>

#include "core/flush.hpp"
#include "core/log.hpp"
#include "mpi/process/registry.hpp"

namespace starling::mpi {

Errhandler* make_predefined_errhandler(HandleBits constant) {
  Errhandler* handler = nullptr;
  if (constant == as_bits(MPI_ERRORS_ARE_FATAL)) handler = new Errhandler(Errhandler::Action::fatal);
  if (constant == as_bits(MPI_ERRORS_ABORT)) handler = new Errhandler(Errhandler::Action::abort);
  if (constant == as_bits(MPI_ERRORS_RETURN)) handler = new Errhandler(Errhandler::Action::give_back);
  if (handler != nullptr) handler->set_handle(constant);
  return handler;
}

namespace {

[[noreturn]] void end(HandleBits comm, int code, std::string_view text, const char* what) {
  const std::string why = std::string(text) + "; " + what;
  if (const auto end_job = registry().hooks.end_job; end_job != nullptr) end_job(comm, code, why);
  log::error(why);
  flush_streams();
  std::abort();  // no runtime to tell the other processes through: the launcher sees this one die
}

[[noreturn]] void end_alone(int code, std::string_view text) {
  log::error(std::string(text) + "; this process ends (MPI_ERRORS_ABORT on a session)");
  flush_streams();
  ::_exit(std::clamp(code, 1, 255));
}

/// Never destroyed: files may be used by at-exit handlers.
struct FileDefault {
  std::mutex mutex;
  Ref<Errhandler> handler;
};
FileDefault& file_default() {
  static auto* const instance = new FileDefault;
  return *instance;
}

}  // namespace

int Errhandler::invoke(Kind kind, HandleBits object, int code, std::string_view text) const {
  switch (action_) {
    case Action::give_back: return code;
    // MPI_ERRORS_ARE_FATAL ends all connected processes, MPI_ERRORS_ABORT those of the communicator, and
    // where it is raised on a session this process alone. What that means for the job is up to the launcher.
    case Action::fatal: end(0, code, text, "the job ends (MPI_ERRORS_ARE_FATAL)");
    case Action::abort:
      if (kind == Kind::session) end_alone(code, text);
      end(kind == Kind::comm ? object : 0, code, text, "the job ends (MPI_ERRORS_ABORT)");
    case Action::call_user: break;
  }
  int error_code = code;
  auto comm = as_handle<MPI_Comm>(object);
  auto win = as_handle<MPI_Win>(object);
  auto file = as_handle<MPI_File>(object);
  auto session = as_handle<MPI_Session>(object);
  switch (attaches_to_) {
    case Kind::comm: function_.comm(&comm, &error_code); break;
    case Kind::win: function_.win(&win, &error_code); break;
    case Kind::file: function_.file(&file, &error_code); break;
    case Kind::session: function_.session(&session, &error_code); break;
    default: break;
  }
  return code;
}

Ref<Errhandler> file_errhandler() {
  FileDefault& state = file_default();
  const std::scoped_lock lock(state.mutex);
  if (!state.handler) state.handler = Ref<Errhandler>::share(tables().errhandler.find(MPI_ERRORS_RETURN));
  return state.handler;
}

void set_file_errhandler(Ref<Errhandler> handler) {
  FileDefault& state = file_default();
  const std::scoped_lock lock(state.mutex);
  state.handler = std::move(handler);
}

}  // namespace starling::mpi
