// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication. Layer: mpi. MPI 5.0 section 4.2.

#include <memory>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/partitioned/receive.hpp"
#include "mpi/partitioned/send.hpp"

namespace starling::mpi::api {
namespace {

int make(Comm& comm, std::unique_ptr<Operation> operation, MPI_Request* handle) {
  Request* const request = Request::make(Request::Form::operation);
  request->comm = Ref<Comm>::share(&comm);
  request->operation = std::move(operation);
  request->persistent = true;
  *handle = as_handle<MPI_Request>(request->handle());
  return MPI_SUCCESS;
}

int no_partitions(int partitions) {
  return error(MPI_ERR_ARG, "partitions is " + std::to_string(partitions) + ", expected 1 or more");
}

int bad_partition(const std::string& name, int value, std::uint32_t partitions) {
  return error(MPI_ERR_ARG,
               name + " is " + std::to_string(value) + ", expected 0.." + std::to_string(partitions - 1));
}

/// The active partitioned send behind a handle; null, with the error noted, for anything else.
partitioned::Send* active_send(MPI_Request handle, int* rc) {
  Request* const request = handle == MPI_REQUEST_NULL ? nullptr : find_request(handle);
  auto* const send =
      request == nullptr ? nullptr : dynamic_cast<partitioned::Send*>(request->operation.get());
  if (send != nullptr && request->active) return send;
  *rc = error(MPI_ERR_REQUEST, send == nullptr ? "request is not a partitioned send"
                                               : "request is inactive; start it first (MPI_Start)");
  return nullptr;
}

int set_ready(partitioned::Send& send, const std::string& name, int partition) {
  if (partition < 0 || static_cast<std::uint32_t>(partition) >= send.partitions())
    return bad_partition(name, partition, send.partitions());
  const auto index = static_cast<std::uint32_t>(partition);
  if (send.ready(index)) {
    return error(MPI_ERR_ARG,
                 name + " is " + std::to_string(partition) + ", which is marked as ready already");
  }
  send.set_ready(index);
  return MPI_SUCCESS;
}

}  // namespace

int Psend_init(const void* buf, int partitions, MPI_Count count, Datatype& datatype, int dest, int tag,
               Comm& comm, Info*, MPI_Request* request) {
  if (partitions == 0) return no_partitions(partitions);
  auto send = std::make_unique<partitioned::Send>(buf, static_cast<std::uint32_t>(partitions),
                                                  static_cast<std::uint64_t>(count), datatype, dest);
  if (const int rc = send->offer(comm, tag); rc != MPI_SUCCESS) return rc;
  return make(comm, std::move(send), request);
}

int Precv_init(void* buf, int partitions, MPI_Count count, Datatype& datatype, int source, int tag,
               Comm& comm, Info*, MPI_Request* request) {
  if (partitions == 0) return no_partitions(partitions);
  if (source == MPI_ANY_SOURCE)
    return error(MPI_ERR_RANK, "source is MPI_ANY_SOURCE, which cannot be used here");
  if (tag == MPI_ANY_TAG) return error(MPI_ERR_TAG, "tag is MPI_ANY_TAG, which cannot be used here");
  auto receive = std::make_unique<partitioned::Receive>(buf, static_cast<std::uint32_t>(partitions),
                                                        static_cast<std::uint64_t>(count), datatype, source);
  if (const int rc = receive->expect(comm, tag); rc != MPI_SUCCESS) return rc;
  return make(comm, std::move(receive), request);
}

int Pready(int partition, MPI_Request request) {
  int rc = MPI_SUCCESS;
  partitioned::Send* const send = active_send(request, &rc);
  return send == nullptr ? rc : set_ready(*send, "partition", partition);
}

int Pready_range(int partition_low, int partition_high, MPI_Request request) {
  int rc = MPI_SUCCESS;
  partitioned::Send* const send = active_send(request, &rc);
  for (int i = partition_low; send != nullptr && rc == MPI_SUCCESS && i <= partition_high; ++i) {
    rc = set_ready(*send, "a partition of the range", i);
  }
  return rc;
}

int Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  int rc = MPI_SUCCESS;
  partitioned::Send* const send = active_send(request, &rc);
  if (send != nullptr && length > 0 && array_of_partitions == nullptr)
    return error(MPI_ERR_ARG, "array_of_partitions is NULL, expected an array");
  for (int i = 0; send != nullptr && rc == MPI_SUCCESS && i < length; ++i) {
    rc = set_ready(*send, "array_of_partitions[" + std::to_string(i) + "]", array_of_partitions[i]);
  }
  return rc;
}

int Parrived(MPI_Request request, int partition, int* flag) {
  if (request == MPI_REQUEST_NULL) {  // section 4.2.2: as an inactive one
    *flag = 1;
    return MPI_SUCCESS;
  }
  Request* const found = find_request(request);
  auto* const receive =
      found == nullptr ? nullptr : dynamic_cast<partitioned::Receive*>(found->operation.get());
  if (receive == nullptr) return error(MPI_ERR_REQUEST, "request is not a partitioned receive");
  if (partition < 0 || static_cast<std::uint32_t>(partition) >= receive->partitions())
    return bad_partition("partition", partition, receive->partitions());
  const auto index = static_cast<std::uint32_t>(partition);
  const auto arrived = [&] { return receive->arrived(index); };
  *flag = arrived() || Runtime::get()->waits().poll_until(names::Parrived, arrived) ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
