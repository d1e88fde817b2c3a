// SPDX-License-Identifier: BSD-3-Clause
// Packing in the native representation. Layer: mpi. MPI 5.0 section 5.2.
#include <string>

#include "mpi/api/datatype/common.hpp"

namespace starling::mpi::api {

int Pack(const void* inbuf, MPI_Count incount, Datatype& datatype, void* outbuf, MPI_Count outsize,
         MPI_Count* position, Comm&) {
  const std::uint64_t bytes = datatype.size() * static_cast<std::uint64_t>(incount);
  if (*position < 0 || *position > outsize || bytes > static_cast<std::uint64_t>(outsize - *position)) {
    return error(MPI_ERR_ARG, "outsize is " + std::to_string(outsize) + ", expected room for " +
                                  std::to_string(bytes) + " bytes from position " +
                                  std::to_string(*position));
  }
  datatype.pack(inbuf, static_cast<std::uint64_t>(incount), 0, static_cast<std::byte*>(outbuf) + *position,
                bytes);
  *position += static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int Unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
           Datatype& datatype, Comm&) {
  const std::uint64_t bytes = datatype.size() * static_cast<std::uint64_t>(outcount);
  if (*position < 0 || *position > insize || bytes > static_cast<std::uint64_t>(insize - *position)) {
    return error(MPI_ERR_TRUNCATE, "insize is " + std::to_string(insize) + ", expected " +
                                       std::to_string(bytes) + " bytes from position " +
                                       std::to_string(*position));
  }
  datatype.unpack(outbuf, static_cast<std::uint64_t>(outcount), 0,
                  static_cast<const std::byte*>(inbuf) + *position, bytes);
  *position += static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int Pack_size(MPI_Count incount, Datatype& datatype, Comm&, MPI_Count* size) {
  *size = static_cast<MPI_Count>(datatype.size()) * incount;
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
