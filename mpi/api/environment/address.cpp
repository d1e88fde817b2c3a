// SPDX-License-Identifier: BSD-3-Clause
// Addresses and the fields of a status. Layer: mpi. MPI 5.0 sections 3.2.5, 5.1.5.

#include "mpi/api.gen.hpp"
#include "mpi/status.hpp"

namespace starling::mpi::api {

int Get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

// Addresses are computed without sign, as the sum may wrap.
MPI_Aint Aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(disp));
}

MPI_Aint Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uint64_t>(addr1) - static_cast<std::uint64_t>(addr2));
}

int Status_get_source(const MPI_Status* status, int* source) {
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}

int Status_get_tag(const MPI_Status* status, int* tag) {
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}

int Status_get_error(const MPI_Status* status, int* error) {
  *error = status->MPI_ERROR;
  return MPI_SUCCESS;
}

int Status_set_source(MPI_Status* status, int source) {
  status->MPI_SOURCE = source;
  return MPI_SUCCESS;
}

int Status_set_tag(MPI_Status* status, int tag) {
  status->MPI_TAG = tag;
  return MPI_SUCCESS;
}

int Status_set_error(MPI_Status* status, int error) {
  status->MPI_ERROR = error;
  return MPI_SUCCESS;
}

int Status_set_cancelled(MPI_Status* status, int flag) {
  const bool was_managed = managed(*status);
  set_cancelled(*status, flag != 0);
  if (was_managed) set_managed(*status, buffer_of(*status));
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
