// SPDX-License-Identifier: BSD-3-Clause
// Sizes and bounds. Layer: mpi. MPI 5.0 sections 5.1.5, 5.1.7 and 5.1.8.
#include "mpi/api/datatype/common.hpp"

namespace starling::mpi::api {

int Type_size(Datatype& datatype, MPI_Count* size) {
  *size = static_cast<MPI_Count>(datatype.size());
  return MPI_SUCCESS;
}

int Type_get_extent(Datatype& datatype, MPI_Count* lb, MPI_Count* extent) {
  *lb = datatype.lb();
  *extent = datatype.extent();
  return MPI_SUCCESS;
}

int Type_get_true_extent(Datatype& datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  *true_lb = datatype.true_lb();
  *true_extent = datatype.true_extent();
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
