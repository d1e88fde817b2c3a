// SPDX-License-Identifier: BSD-3-Clause
// Performance variables: there are none yet, so no index, name or handle is valid; tool sessions are real.
// Layer: mpi. MPI 5.0 section 15.3.7.

#include "mpi/api.gen.hpp"
#include "mpi/api/tool/tool.hpp"

namespace starling::mpi::api {
namespace {

bool open(MPI_T_pvar_session session) {
  return tool::state().sessions.count(reinterpret_cast<std::uintptr_t>(session)) != 0;
}

/// MPI_T_PVAR_ALL_HANDLES of a session without handles is a call that has nothing to do.
int all_or_none(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (!open(session)) return MPI_T_ERR_INVALID_SESSION;
  return handle == MPI_T_PVAR_ALL_HANDLES ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

}  // namespace

int T_pvar_get_index(const char* name, int, int* pvar_index) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return name == nullptr || pvar_index == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME;
}

int T_pvar_get_info(int, char*, int*, int*, int*, MPI_Datatype*, MPI_T_enum*, char*, int*, int*, int*, int*,
                    int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

int T_pvar_get_num(int* num_pvar) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (num_pvar == nullptr) return MPI_T_ERR_INVALID;
  *num_pvar = 0;
  return MPI_SUCCESS;
}

int T_pvar_handle_alloc(MPI_T_pvar_session session, int, void*, MPI_T_pvar_handle*, int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return open(session) ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_INVALID_SESSION;
}

int T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return open(session) ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID_SESSION;
}

int T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle, void*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return open(session) ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID_SESSION;
}

int T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle, void*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return open(session) ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID_SESSION;
}

int T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return all_or_none(session, handle);
}

int T_pvar_session_create(MPI_T_pvar_session* session) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (session == nullptr) return MPI_T_ERR_INVALID;
  tool::State& tool = tool::state();
  tool.sessions.insert(++tool.last_session);
  *session = reinterpret_cast<MPI_T_pvar_session>(tool.last_session);
  return MPI_SUCCESS;
}

int T_pvar_session_free(MPI_T_pvar_session* session) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (session == nullptr || !open(*session)) return MPI_T_ERR_INVALID_SESSION;
  tool::state().sessions.erase(reinterpret_cast<std::uintptr_t>(*session));
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

int T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return all_or_none(session, handle);
}

int T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return all_or_none(session, handle);
}

int T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle, const void*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return open(session) ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID_SESSION;
}

}  // namespace starling::mpi::api
