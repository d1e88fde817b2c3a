// SPDX-License-Identifier: BSD-3-Clause
// Packing in the external32 representation. Layer: mpi. MPI 5.0 section 5.3.
#include <cstring>
#include <string>

#include "mpi/api/datatype/common.hpp"
#include "mpi/datatype/external32.hpp"

namespace starling::mpi::api {
namespace {

int check_datarep(const char* datarep) {
  if (std::strcmp(datarep, "external32") == 0) return MPI_SUCCESS;
  return error(MPI_ERR_ARG, "datarep is \"" + std::string(datarep) + "\", expected \"external32\"");
}

std::uint64_t bytes_outside(const Datatype& datatype, MPI_Count count) {
  return external_bytes(*datatype.shape()->map.node) * static_cast<std::uint64_t>(count);
}

bool fits(MPI_Count position, MPI_Count size, std::uint64_t bytes) {
  return position >= 0 && position <= size && bytes <= static_cast<std::uint64_t>(size - position);
}

std::string needs(const char* name, MPI_Count size, std::uint64_t bytes, MPI_Count position) {
  return std::string(name) + " is " + std::to_string(size) + ", expected " + std::to_string(bytes) +
         " bytes from position " + std::to_string(position);
}

}  // namespace

int Pack_external(const char* datarep, const void* inbuf, MPI_Count incount, Datatype& datatype, void* outbuf,
                  MPI_Count outsize, MPI_Count* position) {
  if (const int code = check_datarep(datarep); code != MPI_SUCCESS) return code;
  const std::uint64_t bytes = bytes_outside(datatype, incount);
  if (!fits(*position, outsize, bytes))
    return error(MPI_ERR_ARG, needs("outsize", outsize, bytes, *position));
  if (!pack_external(datatype, inbuf, static_cast<std::uint64_t>(incount),
                     static_cast<std::byte*>(outbuf) + *position)) {
    return error(MPI_ERR_CONVERSION,
                 "a value does not fit in its external32 size (4 bytes for long, 2 for wchar_t)");
  }
  *position += static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int Unpack_external(const char datarep[], const void* inbuf, MPI_Count insize, MPI_Count* position,
                    void* outbuf, MPI_Count outcount, Datatype& datatype) {
  if (datarep == nullptr) return error(MPI_ERR_ARG, "datarep is NULL, expected \"external32\"");
  if (const int code = check_datarep(datarep); code != MPI_SUCCESS) return code;
  const std::uint64_t bytes = bytes_outside(datatype, outcount);
  if (!fits(*position, insize, bytes))
    return error(MPI_ERR_TRUNCATE, needs("insize", insize, bytes, *position));
  unpack_external(datatype, outbuf, static_cast<std::uint64_t>(outcount),
                  static_cast<const std::byte*>(inbuf) + *position);
  *position += static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int Pack_external_size(const char* datarep, MPI_Count incount, Datatype& datatype, MPI_Count* size) {
  if (const int code = check_datarep(datarep); code != MPI_SUCCESS) return code;
  *size = static_cast<MPI_Count>(bytes_outside(datatype, incount));
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
