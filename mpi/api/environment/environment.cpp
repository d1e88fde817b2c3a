// SPDX-License-Identifier: BSD-3-Clause
// Versions, names, time, memory. Layer: mpi. MPI 5.0 chapter 9.

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "core/clock.hpp"
#include "mpi/api.gen.hpp"
#include "mpi/api/text.hpp"
#include "mpi/error.hpp"
#include "mpi/info/info.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi::api {

int Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int Get_library_version(char* version, int* resultlen) {
  const std::string text = std::string("Starling ") + STARLING_VERSION + ", MPI " +
                           std::to_string(MPI_VERSION) + "." + std::to_string(MPI_SUBVERSION) + ", ABI " +
                           std::to_string(MPI_ABI_VERSION) + "." + std::to_string(MPI_ABI_SUBVERSION) +
                           ", built with " STARLING_COMPILER;
  *resultlen = copy_text(text, version, MPI_MAX_LIBRARY_VERSION_STRING);
  return MPI_SUCCESS;
}

int Get_processor_name(char* name, int* resultlen) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    return error(MPI_ERR_OTHER, "the name of this machine is longer than MPI_MAX_PROCESSOR_NAME");
  }
  *resultlen = copy_text(host.data(), name, MPI_MAX_PROCESSOR_NAME);
  return MPI_SUCCESS;
}

double Wtime() { return static_cast<double>(now_ns()) * 1e-9; }

double Wtick() { return 1e-9; }

int Alloc_mem(MPI_Aint size, Info* info, void* baseptr) {
  if (size < 0) return error(MPI_ERR_SIZE, "size is " + std::to_string(size) + ", expected 0 or more");
  // The standard's hint (section 9.2): a power of two; others are ignored.
  std::size_t alignment = 64;
  if (const auto hint = info == nullptr ? std::nullopt : info->get("mpi_minimum_memory_alignment"); hint) {
    const unsigned long long wanted = std::strtoull(hint->c_str(), nullptr, 10);
    if (wanted > alignment && wanted <= (1u << 30) && (wanted & (wanted - 1)) == 0) alignment = wanted;
  }
  auto memory = Runtime::get()->allocated_memory().allocate(static_cast<std::size_t>(size), alignment);
  if (!memory) return error(MPI_ERR_NO_MEM, memory.error().detail);
  *static_cast<void**>(baseptr) = *memory;
  return MPI_SUCCESS;
}

int Free_mem(void* base) {
  if (base == nullptr) return MPI_SUCCESS;
  const auto released = Runtime::get()->allocated_memory().release(base);
  return released ? MPI_SUCCESS : error(MPI_ERR_BASE, released.error().detail);
}

/// For profiling libraries, which interpose it (section 14.2.4).
int Pcontrol(const int) { return MPI_SUCCESS; }

}  // namespace starling::mpi::api
