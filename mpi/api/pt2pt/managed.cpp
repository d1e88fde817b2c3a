// SPDX-License-Identifier: BSD-3-Clause
// Receives whose buffer the library provides: what the entry points call when they are given
// MPIX_BUFFER_LIBRARY. Layer: mpi.
// See docs/design/managed-buffers.md.

#include <memory>
#include <utility>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/other_half.hpp"
#include "mpi/api/pt2pt/transfer.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/managed/receive.hpp"
#include "mpi/request/message.hpp"

namespace starling::mpi::api {
namespace {

/// Not started; null with the error class in `rc`.
Request* make(const Transfer& transfer, int* rc) {
  Request* const request =
      make_managed(transfer.datatype, transfer.count, Ref<Comm>::share(&transfer.comm), rc);
  if (request == nullptr) return nullptr;
  pml::Request& core = request->core;
  core.context = &transfer.comm.context();
  core.rank = Rank{transfer.rank};
  core.tag = Tag{transfer.tag};
  core.mode = pml::Mode::standard;
  core.receive = true;
  return request;
}

int start(const Transfer& transfer, MPI_Request* handle) {
  int rc = MPI_SUCCESS;
  Request* const request = make(transfer, &rc);
  return request != nullptr ? start_into(request, handle) : rc;
}

/// A send, and a receive with a buffer of the library's, behind one request, whose status is that of the
/// receive.
class ManagedExchange final : public Operation {
 public:
  ManagedExchange(const Transfer& out, Request& incoming)
      : sends_(out.rank != MPI_PROC_NULL),
        sent_type_(Ref<Datatype>::share(&out.datatype)),
        incoming_(incoming) {
    out.fill(outgoing_, pml::Mode::standard, false);
  }
  ~ManagedExchange() override {
    Runtime::get()->polling().remove(*this);
    incoming_.free();
  }

  int start(Request& request) override {
    request_ = &request;
    const int rc = incoming_.start();
    if (rc != MPI_SUCCESS) return rc;
    if (sends_) Runtime::get()->pml().isend(outgoing_);
    if (progress() == 0) Runtime::get()->polling().add(*this);
    return MPI_SUCCESS;
  }
  int progress() noexcept override {
    if (sends_ && !outgoing_.complete.load(std::memory_order_acquire)) return 0;
    if (!incoming_.done()) return 0;
    Runtime::get()->polling().remove(*this);
    request_->core.complete.store(true, std::memory_order_release);
    return 1;
  }
  int finish(MPI_Status& status) override {
    const int received = incoming_.result(status);
    const bool sent = !sends_ || outgoing_.status.fault == pml::Fault::none;
    return sent ? received : fault_error(outgoing_, request_->comm.get());
  }
  void told() noexcept override { incoming_.operation->told(); }
  [[nodiscard]] pml::Request* awaited() noexcept override {
    const bool sent = !sends_ || outgoing_.complete.load(std::memory_order_acquire);
    return sent ? &incoming_.core : nullptr;
  }
  [[nodiscard]] ManagedBuffer* managed() noexcept override { return incoming_.operation->managed(); }

 private:
  pml::Request outgoing_;
  bool sends_;
  Ref<Datatype> sent_type_;
  Request& incoming_;
  Request* request_ = nullptr;
};

/// Waits for a request that only this call knows.
int finish(const char* function, MPI_Request handle, MPI_Status* status) {
  Request* const request = find_request(handle);
  request->wait(function);
  return complete(&handle, *request, status);
}

int receive(const char* function, const Transfer& transfer, MPI_Status* status) {
  MPI_Request handle = MPI_REQUEST_NULL;
  const int rc = start(transfer, &handle);
  return rc == MPI_SUCCESS ? finish(function, handle, status) : rc;
}

}  // namespace

int Recv_managed(void* buf, int count, Datatype& datatype, int source, int tag, Comm& comm,
                 MPI_Status* status) {
  return receive(names::Recv, {buf, count, datatype, source, tag, comm}, status);
}

int Recv_c_managed(void* buf, MPI_Count count, Datatype& datatype, int source, int tag, Comm& comm,
                   MPI_Status* status) {
  return receive(names::Recv_c, {buf, count, datatype, source, tag, comm}, status);
}

int Irecv_managed(void* buf, MPI_Count count, Datatype& datatype, int source, int tag, Comm& comm,
                  MPI_Request* request) {
  return start({buf, count, datatype, source, tag, comm}, request);
}

int Recv_init_managed(void* buf, MPI_Count count, Datatype& datatype, int source, int tag, Comm& comm,
                      MPI_Request* request) {
  int rc = MPI_SUCCESS;
  Request* const made = make({buf, count, datatype, source, tag, comm}, &rc);
  if (made == nullptr) return rc;
  made->persistent = true;
  *request = as_handle<MPI_Request>(made->handle());
  return MPI_SUCCESS;
}

int Sendrecv_managed(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag,
                     void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int source, int recvtag,
                     Comm& comm, MPI_Status* status, const char* function) {
  MPI_Request incoming = MPI_REQUEST_NULL;
  if (const int rc = start({recvbuf, recvcount, recvtype, source, recvtag, comm}, &incoming);
      rc != MPI_SUCCESS)
    return rc;
  int sent = MPI_SUCCESS;
  if (dest != MPI_PROC_NULL) {
    pml::Request outgoing;
    Transfer{sendbuf, sendcount, sendtype, dest, sendtag, comm}.fill(outgoing, pml::Mode::standard, false);
    Runtime::get()->pml().isend(outgoing);
    sent = wait_for(function, outgoing, comm);
    if (sent != MPI_SUCCESS) [[unlikely]]
      end_other_half(function, outgoing, find_request(incoming)->core, comm);
  }
  const int received = finish(function, incoming, status);
  return sent != MPI_SUCCESS ? sent : received;
}

int Isendrecv_managed(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag,
                      void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int source, int recvtag,
                      Comm& comm, MPI_Request* request) {
  int rc = MPI_SUCCESS;
  Request* const incoming = make({recvbuf, recvcount, recvtype, source, recvtag, comm}, &rc);
  if (incoming == nullptr) return rc;
  Request* const made = Request::make(Request::Form::operation);
  made->comm = Ref<Comm>::share(&comm);
  made->operation = std::make_unique<ManagedExchange>(
      Transfer{sendbuf, sendcount, sendtype, dest, sendtag, comm}, *incoming);
  return start_into(made, request);
}

int Imrecv_managed(void*, MPI_Count count, Datatype& datatype, MPI_Message* message, MPI_Request* request) {
  const bool nobody = *message == MPI_MESSAGE_NO_PROC;
  Message* const matched = nobody ? nullptr : find_message(*message);
  if (matched == nullptr && !nobody)
    return error(MPI_ERR_REQUEST, "message is no matched message (received already?)");
  int rc = MPI_SUCCESS;
  Request* const made = make_managed(datatype, count, nobody ? Ref<Comm>() : matched->comm, &rc);
  if (made == nullptr) return rc;
  if (!nobody) made->core.context = &matched->comm->context();
  made->active = true;
  static_cast<ManagedReceive&>(*made->operation).receive(nobody ? nullptr : matched->message);
  if (!nobody) {
    tables().message.remove(matched->handle());
    matched->drop();
  }
  *message = MPI_MESSAGE_NULL;
  *request = as_handle<MPI_Request>(made->handle());
  return MPI_SUCCESS;
}

int Mrecv_managed(void* buf, MPI_Count count, Datatype& datatype, MPI_Message* message, MPI_Status* status,
                  const char* function) {
  MPI_Request handle = MPI_REQUEST_NULL;
  const int rc = Imrecv_managed(buf, count, datatype, message, &handle);
  return rc == MPI_SUCCESS ? finish(function, handle, status) : rc;
}

}  // namespace starling::mpi::api
