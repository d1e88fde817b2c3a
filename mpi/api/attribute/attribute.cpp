// SPDX-License-Identifier: BSD-3-Clause
// Attributes of communicators and datatypes; keyvals of windows, too. Layer: mpi. MPI 5.0
// sections 7.7, 9.1.2.

#include "mpi/attribute/by_keyval.hpp"

#include <memory>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/errhandler/codes.hpp"
#include "mpi/error.hpp"
#include "mpi/process/registry.hpp"

namespace starling::mpi::api {
namespace {

template <class Copy, class Erase>
int create(Copy* copy, Erase* erase, int* out, void* extra) {
  *out = keyvals().add(std::make_unique<Keyval>(copy, erase, extra));
  return MPI_SUCCESS;
}

/// A keyval exists until its last attribute has gone, and it is not wrong to free one that is in use
/// (section 7.7.2); so several owners of a number may free it, a delete callback among them.
int free_keyval(int* keyval, Kind kind) {
  if (!keyval_exists(kind, *keyval)) return no_keyval(*keyval);
  keyvals().release(*keyval);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

bool is_predefined(int keyval) noexcept { return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE; }

/// C gets the address of the value of a predefined attribute (section 7.7.2). The others describe the world:
/// communicators of a session have MPI_TAG_UB only (section 9.1.2).
bool predefined(const Comm& comm, int keyval, void** value, int* flag) {
  if (comm.session && is_predefined(keyval) && keyval != MPI_TAG_UB) {
    *flag = 0;
    return true;
  }
  PredefinedAttributes& values = registry().attributes;
  int* address = nullptr;
  switch (keyval) {
    case MPI_TAG_UB: address = &values.tag_ub; break;
    case MPI_HOST: address = &values.host; break;
    case MPI_IO: address = &values.io; break;
    case MPI_WTIME_IS_GLOBAL: address = &values.wtime_is_global; break;
    case MPI_UNIVERSE_SIZE: address = values.universe_size > 0 ? &values.universe_size : nullptr; break;
    case MPI_APPNUM: address = values.appnum >= 0 ? &values.appnum : nullptr; break;
    case MPI_LASTUSEDCODE:
      values.last_used_code = last_used_code();
      address = &values.last_used_code;
      break;
    default: return false;
  }
  *flag = address != nullptr ? 1 : 0;
  if (address != nullptr) *value = address;
  return true;
}

int read_only(int keyval) {
  return error(MPI_ERR_KEYVAL,
               "keyval is " + std::to_string(keyval) + ", a predefined one, which cannot be changed");
}

}  // namespace

int Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                       MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval,
                       void* extra_state) {
  return create(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
}
int Type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
                       MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval,
                       void* extra_state) {
  return create(type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state);
}
int Win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn,
                      MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval, void* extra_state) {
  return create(win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state);
}

int Comm_free_keyval(int* comm_keyval) { return free_keyval(comm_keyval, Kind::comm); }
int Type_free_keyval(int* type_keyval) { return free_keyval(type_keyval, Kind::datatype); }
int Win_free_keyval(int* win_keyval) { return free_keyval(win_keyval, Kind::win); }

int Comm_set_attr(Comm& comm, int comm_keyval, void* attribute_val) {
  if (is_predefined(comm_keyval)) return read_only(comm_keyval);
  return set_attribute(comm, comm_keyval, attribute_val, Kind::comm);
}
int Comm_get_attr(Comm& comm, int comm_keyval, void* attribute_val, int* flag) {
  if (predefined(comm, comm_keyval, static_cast<void**>(attribute_val), flag)) return MPI_SUCCESS;
  return get_attribute(comm, comm_keyval, attribute_val, flag, Kind::comm);
}
int Comm_delete_attr(Comm& comm, int comm_keyval) {
  if (is_predefined(comm_keyval)) return read_only(comm_keyval);
  return erase_attribute(comm, comm_keyval, Kind::comm);
}

int Type_set_attr(Datatype& datatype, int type_keyval, void* attribute_val) {
  return set_attribute(datatype, type_keyval, attribute_val, Kind::datatype);
}
int Type_get_attr(Datatype& datatype, int type_keyval, void* attribute_val, int* flag) {
  return get_attribute(datatype, type_keyval, attribute_val, flag, Kind::datatype);
}
int Type_delete_attr(Datatype& datatype, int type_keyval) {
  return erase_attribute(datatype, type_keyval, Kind::datatype);
}

// The MPI-1 names of the communicator functions, deprecated since MPI 2.0.
int Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
                  void* extra_state) {
  return create(copy_fn, delete_fn, keyval, extra_state);
}
int Keyval_free(int* keyval) { return free_keyval(keyval, Kind::comm); }
int Attr_put(Comm& comm, int keyval, void* attribute_val) {
  return Comm_set_attr(comm, keyval, attribute_val);
}
int Attr_get(Comm& comm, int keyval, void* attribute_val, int* flag) {
  return Comm_get_attr(comm, keyval, attribute_val, flag);
}
int Attr_delete(Comm& comm, int keyval) { return Comm_delete_attr(comm, keyval); }

}  // namespace starling::mpi::api
