// SPDX-License-Identifier: BSD-3-Clause
// Performance variables: calls. They only look (variables.hpp), so nothing can be started, stopped or
// written. Layer: mpi. MPI 5.0 section 15.3.7.
//
// Who reads a value takes the runtime's lock before the tools': user callbacks, which hold it, may call
// MPI_T.

#include <cstring>

#include "mpi/api.gen.hpp"
#include "mpi/api/tool/tool.hpp"
#include "mpi/api/tool/variables.hpp"
#include "mpi/process/registry.hpp"

namespace starling::mpi::api {
namespace {

bool open(MPI_T_pvar_session session) {
  return tool::state().sessions.count(reinterpret_cast<std::uintptr_t>(session)) != 0;
}

/// The variable of a handle of this session; null if it is none.
const tool::PerformanceVariable* find(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const auto& handles = tool::state().handles;
  const auto at = handles.find(reinterpret_cast<std::uintptr_t>(handle));
  if (at == handles.end() || at->second.session != reinterpret_cast<std::uintptr_t>(session)) return nullptr;
  return &tool::performance_variables()[at->second.variable];
}

bool is_index(int index) {
  return index >= 0 && static_cast<std::size_t>(index) < tool::performance_variables().size();
}

/// A call that no variable allows: MPI_T_PVAR_ALL_HANDLES leaves those out, so there is nothing to do for it.
int refuse(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int code) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (!open(session)) return MPI_T_ERR_INVALID_SESSION;
  if (handle == MPI_T_PVAR_ALL_HANDLES) return MPI_SUCCESS;
  return find(session, handle) == nullptr ? MPI_T_ERR_INVALID_HANDLE : code;
}

void set(int* to, int value) {
  if (to != nullptr) *to = value;
}

}  // namespace

int T_pvar_get_num(int* num_pvar) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (num_pvar == nullptr) return MPI_T_ERR_INVALID;
  *num_pvar = static_cast<int>(tool::performance_variables().size());
  return MPI_SUCCESS;
}

int T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                    int* readonly, int* continuous, int* atomic) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (!is_index(pvar_index)) return MPI_T_ERR_INVALID_INDEX;
  const tool::PerformanceVariable& variable =
      tool::performance_variables()[static_cast<std::size_t>(pvar_index)];
  tool::give_text(variable.name, name, name_len);
  tool::give_text(variable.help, desc, desc_len);
  set(verbosity, MPI_T_VERBOSITY_USER_BASIC);
  set(var_class, variable.variable_class);
  if (datatype != nullptr) *datatype = variable.type();
  if (enumtype != nullptr) *enumtype = MPI_T_ENUM_NULL;
  set(bind, MPI_T_BIND_NO_OBJECT);
  set(readonly, 1);
  set(continuous, 1);
  set(atomic, 0);
  return MPI_SUCCESS;
}

int T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (name == nullptr || pvar_index == nullptr) return MPI_T_ERR_INVALID;
  const auto& variables = tool::performance_variables();
  for (std::size_t index = 0; index < variables.size(); ++index) {
    if (variables[index].variable_class != var_class || variables[index].name != name) continue;
    *pvar_index = static_cast<int>(index);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int T_pvar_session_create(MPI_T_pvar_session* session) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (session == nullptr) return MPI_T_ERR_INVALID;
  const std::uintptr_t made = ++tool::state().last_object;
  tool::state().sessions.insert(made);
  *session = reinterpret_cast<MPI_T_pvar_session>(made);
  return MPI_SUCCESS;
}

int T_pvar_session_free(MPI_T_pvar_session* session) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (session == nullptr || !open(*session)) return MPI_T_ERR_INVALID_SESSION;
  const auto bits = reinterpret_cast<std::uintptr_t>(*session);
  tool::state().sessions.erase(bits);
  auto& handles = tool::state().handles;
  for (auto at = handles.begin(); at != handles.end();) {
    at = at->second.session == bits ? handles.erase(at) : std::next(at);
  }
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

int T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void*, MPI_T_pvar_handle* handle,
                        int* count) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (!open(session)) return MPI_T_ERR_INVALID_SESSION;
  if (!is_index(pvar_index)) return MPI_T_ERR_INVALID_INDEX;
  if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
  const std::uintptr_t made = ++tool::state().last_object;
  tool::state().handles[made] = {reinterpret_cast<std::uintptr_t>(session),
                                 static_cast<std::size_t>(pvar_index)};
  *handle = reinterpret_cast<MPI_T_pvar_handle>(made);
  *count = 1;
  return MPI_SUCCESS;
}

int T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (!open(session)) return MPI_T_ERR_INVALID_SESSION;
  if (handle == nullptr || find(session, *handle) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  tool::state().handles.erase(reinterpret_cast<std::uintptr_t>(*handle));
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  const Hold hold(registry().lock, Hold::always);
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (!open(session)) return MPI_T_ERR_INVALID_SESSION;
  const tool::PerformanceVariable* const variable = find(session, handle);
  if (variable == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  Runtime* const runtime = Runtime::get();
  const unsigned long long value = runtime == nullptr ? 0 : variable->value(*runtime, variable->which);
  if (variable->type() == MPI_DOUBLE) {
    const double seconds = static_cast<double>(value) * 1e-9;
    std::memcpy(buf, &seconds, sizeof seconds);
  } else {
    std::memcpy(buf, &value, sizeof value);
  }
  return MPI_SUCCESS;
}

int T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return refuse(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return refuse(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return refuse(session, handle, MPI_T_ERR_PVAR_NO_WRITE);
}

int T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void*) {
  if (handle == MPI_T_PVAR_ALL_HANDLES) handle = MPI_T_PVAR_HANDLE_NULL;  // no such call for all
  return refuse(session, handle, MPI_T_ERR_PVAR_NO_WRITE);
}

int T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void*) {
  if (handle == MPI_T_PVAR_ALL_HANDLES) handle = MPI_T_PVAR_HANDLE_NULL;
  return refuse(session, handle, MPI_T_ERR_PVAR_NO_ATOMIC);
}

}  // namespace starling::mpi::api
