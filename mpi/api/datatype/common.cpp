// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the datatype functions. Layer: mpi.
#include "mpi/api/datatype/common.hpp"

#include <string>

namespace starling::mpi::api {

int give(NewType made, MPI_Datatype* newtype) {
  if (!made) return error(MPI_ERR_ARG, made.error().detail);
  return give(std::move(*made), newtype);
}

int give(Ref<Datatype> made, MPI_Datatype* newtype) {
  *newtype = new_handle<MPI_Datatype>(tables().datatype, std::move(made));
  if (*newtype == MPI_DATATYPE_NULL) return too_many("datatypes");
  return MPI_SUCCESS;
}

int copy_array(const char* name, IntArray values, MPI_Count count, std::vector<std::int64_t>& copy) {
  if (count > 0 && !values) return error(MPI_ERR_ARG, std::string(name) + " is NULL, expected an array");
  copy.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < copy.size(); ++i) copy[i] = values[i];
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
