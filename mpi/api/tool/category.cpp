// SPDX-License-Identifier: BSD-3-Clause
// Categories: there are none yet, so no index or name is valid. Layer: mpi. MPI 5.0 section 15.3.9.

#include "mpi/api.gen.hpp"
#include "mpi/api/tool/tool.hpp"

namespace starling::mpi::api {

int T_category_changed(int* update_number) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (update_number == nullptr) return MPI_T_ERR_INVALID;
  *update_number = 0;
  return MPI_SUCCESS;
}

int T_category_get_categories(int, int, int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

int T_category_get_cvars(int, int, int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

int T_category_get_events(int, int, int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

int T_category_get_index(const char* name, int* cat_index) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return name == nullptr || cat_index == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME;
}

int T_category_get_info(int, char*, int*, char*, int*, int*, int*, int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

int T_category_get_num(int* num_cat) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  if (num_cat == nullptr) return MPI_T_ERR_INVALID;
  *num_cat = 0;
  return MPI_SUCCESS;
}

int T_category_get_num_events(int, int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

int T_category_get_pvars(int, int, int*) {
  const tool::Guard guard;
  if (!guard.ready()) return MPI_T_ERR_NOT_INITIALIZED;
  return MPI_T_ERR_INVALID_INDEX;
}

}  // namespace starling::mpi::api
