// SPDX-License-Identifier: BSD-3-Clause
// What the binary interface says about itself. Layer: mpi. MPI 5.0 chapter 20.

#include <cstring>
#include <mutex>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/error.hpp"
#include "mpi/info/info.hpp"

namespace starling::mpi::api {
namespace {

/// What a Fortran binding told about its compiler; nothing until it does (there is none in this library).
struct Fortran {
  std::mutex mutex;
  Ref<Info> info;
  int logical_size = 0;
  unsigned char logical_true[16] = {};
  unsigned char logical_false[16] = {};
};
Fortran& fortran() {
  static Fortran* const instance = new Fortran;
  return *instance;
}

bool valid_size(int size) noexcept { return size == 1 || size == 2 || size == 4 || size == 8 || size == 16; }

int bad_size(int size) {
  return error(MPI_ERR_ARG, "logical_size is " + std::to_string(size) + ", expected 1, 2, 4, 8 or 16");
}

}  // namespace

int Abi_get_version(int* abi_major, int* abi_minor) {
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

int Abi_get_info(MPI_Info* info) {
  auto made = Ref<Info>::adopt(new Info({{"mpi_aint_size", std::to_string(sizeof(MPI_Aint))},
                                         {"mpi_count_size", std::to_string(sizeof(MPI_Count))},
                                         {"mpi_offset_size", std::to_string(sizeof(MPI_Offset))}}));
  *info = new_handle<MPI_Info>(tables().info, std::move(made));
  return *info != MPI_INFO_NULL ? MPI_SUCCESS : too_many("info objects");
}

int Abi_get_fortran_info(MPI_Info* info) {
  Fortran& state = fortran();
  const std::scoped_lock lock(state.mutex);
  *info = MPI_INFO_NULL;
  if (!state.info) return MPI_SUCCESS;
  *info = new_handle<MPI_Info>(tables().info, state.info->dup());
  return *info != MPI_INFO_NULL ? MPI_SUCCESS : too_many("info objects");
}

int Abi_set_fortran_info(Info* info) {
  Fortran& state = fortran();
  const std::scoped_lock lock(state.mutex);
  if (info == nullptr) return error(MPI_ERR_INFO, "info is MPI_INFO_NULL, expected an info object");
  if (state.info) return error(MPI_ERR_ABI, "the Fortran info has been set already");
  state.info = info->dup();
  return MPI_SUCCESS;
}

int Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  if (!valid_size(logical_size)) return bad_size(logical_size);
  if (logical_true == nullptr || logical_false == nullptr) {
    return error(MPI_ERR_ARG, "logical_true or logical_false is NULL, expected the address of a value");
  }
  Fortran& state = fortran();
  const std::scoped_lock lock(state.mutex);
  if (state.logical_size != 0) return error(MPI_ERR_ABI, "the Fortran booleans have been set already");
  state.logical_size = logical_size;
  std::memcpy(state.logical_true, logical_true, static_cast<std::size_t>(logical_size));
  std::memcpy(state.logical_false, logical_false, static_cast<std::size_t>(logical_size));
  return MPI_SUCCESS;
}

int Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set) {
  if (!valid_size(logical_size)) return bad_size(logical_size);
  Fortran& state = fortran();
  const std::scoped_lock lock(state.mutex);
  *is_set = state.logical_size == logical_size ? 1 : 0;
  if (*is_set == 0) return MPI_SUCCESS;
  if (logical_true == nullptr || logical_false == nullptr) {
    return error(MPI_ERR_ARG, "logical_true or logical_false is NULL, expected the address of a value");
  }
  std::memcpy(logical_true, state.logical_true, static_cast<std::size_t>(logical_size));
  std::memcpy(logical_false, state.logical_false, static_cast<std::size_t>(logical_size));
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
