// SPDX-License-Identifier: BSD-3-Clause
// Attaching, detaching and flushing the buffer of buffered sends. Layer: mpi. MPI 5.0 section 3.6.

#include "mpi/api.gen.hpp"
#include "mpi/error.hpp"
#include "mpi/request/buffered.hpp"
#include "mpi/request/request.hpp"

namespace starling::mpi::api {

int Buffer_attach(void* buffer, MPI_Count size) {
  if (process_bsend_buffer().attached()) {
    return error(MPI_ERR_BUFFER, "a buffer is attached already; detach it first (MPI_Buffer_detach)");
  }
  process_bsend_buffer().attach(buffer, static_cast<std::size_t>(size));
  return MPI_SUCCESS;
}

int Buffer_detach(void* buffer_addr, MPI_Count* size) {
  BsendBuffer& attached = process_bsend_buffer();
  std::size_t bytes = 0;
  attached.detach(static_cast<void**>(buffer_addr), &bytes);
  *size = static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int Buffer_flush() {
  process_bsend_buffer().flush();
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
