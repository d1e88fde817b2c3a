// SPDX-License-Identifier: BSD-3-Clause
// How many elements a status stands for. Layer: mpi. MPI 5.0 sections 3.2.5, 5.1.11 and 13.3.
#include "mpi/api/datatype/common.hpp"
#include "mpi/status.hpp"

namespace starling::mpi::api {

int Get_count(const MPI_Status* status, Datatype& datatype, MPI_Count* count) {
  const std::uint64_t bytes = bytes_of(*status);
  if (bytes == 0) {
    *count = 0;
  } else if (datatype.size() == 0 || bytes % datatype.size() != 0) {
    *count = MPI_UNDEFINED;
  } else {
    *count = static_cast<MPI_Count>(bytes / datatype.size());
  }
  return MPI_SUCCESS;
}

int Get_elements(const MPI_Status* status, Datatype& datatype, MPI_Count* count) {
  const std::uint64_t bytes = bytes_of(*status);
  if (bytes == 0) {
    *count = 0;
    return MPI_SUCCESS;
  }
  *count = MPI_UNDEFINED;
  if (datatype.size() == 0) return MPI_SUCCESS;
  const auto rest = elements_in(*datatype.shape()->map.node, bytes % datatype.size());
  if (rest) *count = static_cast<MPI_Count>(bytes / datatype.size() * datatype.basic_elements() + *rest);
  return MPI_SUCCESS;
}

int Status_set_elements(MPI_Status* status, Datatype& datatype, MPI_Count count) {
  const std::uint64_t each = datatype.basic_elements();
  const auto wanted = static_cast<std::uint64_t>(count);
  const std::uint64_t bytes =
      each == 0 ? 0 : wanted / each * datatype.size() + bytes_of(*datatype.shape()->map.node, wanted % each);
  set_bytes(*status, bytes);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
