// SPDX-License-Identifier: BSD-3-Clause
// Events and their sources: there are none yet, so no index, name or handle is valid. Layer: mpi. MPI 5.0
// section 15.3.8.

#include "mpi/api.gen.hpp"
#include "mpi/api/tool/tool.hpp"

namespace starling::mpi::api {

int T_event_callback_get_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_callback_set_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_copy(MPI_T_event_instance, void*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_get_index(const char* name, int* event_index) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return name == nullptr || event_index == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME;
}

int T_event_get_info(int, char*, int*, int*, MPI_Datatype*, MPI_Aint*, int*, MPI_T_enum*, MPI_Info*, char*,
                     int*, int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

int T_event_get_num(int* num_events) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (num_events == nullptr) return MPI_T_ERR_INVALID;
  *num_events = 0;
  return MPI_SUCCESS;
}

int T_event_get_source(MPI_T_event_instance, int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_get_timestamp(MPI_T_event_instance, MPI_Count*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_handle_alloc(int, void*, MPI_Info, MPI_T_event_registration*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

int T_event_handle_free(MPI_T_event_registration, void*, MPI_T_event_free_cb_function) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_handle_get_info(MPI_T_event_registration, MPI_Info*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_handle_set_info(MPI_T_event_registration, MPI_Info) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_read(MPI_T_event_instance, int, void*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_register_callback(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info, void*,
                              MPI_T_event_cb_function) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_event_set_dropped_handler(MPI_T_event_registration, MPI_T_event_dropped_cb_function) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_HANDLE;
}

int T_source_get_info(int, char*, int*, char*, int*, MPI_T_source_order*, MPI_Count*, MPI_Count*, MPI_Info*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

int T_source_get_num(int* num_sources) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (num_sources == nullptr) return MPI_T_ERR_INVALID;
  *num_sources = 0;
  return MPI_SUCCESS;
}

int T_source_get_timestamp(int, MPI_Count*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

}  // namespace starling::mpi::api
