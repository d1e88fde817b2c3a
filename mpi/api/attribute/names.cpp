// SPDX-License-Identifier: BSD-3-Clause
// Names and hints of communicators, names of datatypes and windows. Layer: mpi. MPI 5.0 sections 7.4.4, 7.8.

#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/api/text.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/error.hpp"
#include "mpi/info/info.hpp"
#include "mpi/onesided/window.hpp"

namespace starling::mpi::api {
namespace {

/// Longer names are cut, as the standard lets C do.
void set_name(std::string& name, const char* text) {
  name = std::string_view(text).substr(0, MPI_MAX_OBJECT_NAME - 1);
}

int give_name(std::string_view name, char* text, int* length) {
  *length = copy_text(name, text, MPI_MAX_OBJECT_NAME);
  return MPI_SUCCESS;
}

}  // namespace

int Comm_set_name(Comm& comm, const char* comm_name) {
  set_name(comm.name, comm_name);
  return MPI_SUCCESS;
}
int Comm_get_name(Comm* comm, char* comm_name, int* resultlen) {
  return give_name(comm == nullptr ? "MPI_COMM_NULL" : std::string_view(comm->name), comm_name, resultlen);
}

int Type_set_name(Datatype& datatype, const char* type_name) {
  set_name(datatype.name, type_name);
  return MPI_SUCCESS;
}
int Type_get_name(Datatype* datatype, char* type_name, int* resultlen) {
  const std::string_view name = datatype == nullptr ? "MPI_DATATYPE_NULL" : std::string_view(datatype->name);
  return give_name(name, type_name, resultlen);
}

int Win_set_name(Win& win, const char* win_name) {
  set_name(win.name, win_name);
  win.comm().name = win.label();  // how hang help calls its barriers
  return MPI_SUCCESS;
}
int Win_get_name(Win* win, char* win_name, int* resultlen) {
  return give_name(win == nullptr ? "MPI_WIN_NULL" : std::string_view(win->name), win_name, resultlen);
}

/// Hints replace the communicator's of the same key; null leaves them.
int Comm_set_info(Comm& comm, Info* info) {
  const Ref<Info> given = known_hints(info);
  if (!given) return MPI_SUCCESS;
  auto merged = comm.info ? comm.info->dup() : Ref<Info>::adopt(new Info);
  for (const auto& [key, value] : given->entries()) merged->set(key, value);
  comm.info = std::move(merged);
  return MPI_SUCCESS;
}
int Comm_get_info(Comm& comm, MPI_Info* info_used) {
  *info_used = new_handle<MPI_Info>(tables().info, Ref<Info>::adopt(new Info(hints_in_use(comm.info.get()))));
  return *info_used != MPI_INFO_NULL ? MPI_SUCCESS : too_many("info objects");
}

}  // namespace starling::mpi::api
