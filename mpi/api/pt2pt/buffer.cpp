// SPDX-License-Identifier: BSD-3-Clause
// Attaching, detaching and flushing the buffers of buffered sends: of the process, of a communicator, of a
// session. Layer: mpi. MPI 5.0 section 3.6.

#include <memory>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/transfer.hpp"
#include "mpi/error.hpp"
#include "mpi/request/buffered.hpp"
#include "mpi/request/request.hpp"
#include "mpi/session/session.hpp"

namespace starling::mpi::api {
namespace {

using BufferPtr = std::shared_ptr<BsendBuffer>;

int attach(BsendBuffer& to, void* buffer, MPI_Count size) {
  if (to.attached()) return error(MPI_ERR_BUFFER, "a buffer is attached here already; detach it first");
  to.attach(buffer, static_cast<std::size_t>(size));
  return MPI_SUCCESS;
}

int attach(BufferPtr& to, void* buffer, MPI_Count size) {
  if (to == nullptr) to = std::make_shared<BsendBuffer>();
  return attach(*to, buffer, size);
}

int detach(const BufferPtr& from, void* buffer_addr, MPI_Count* size) {
  std::size_t bytes = 0;
  void* base = nullptr;
  const BufferPtr kept = from;  // waiting gives the lock away
  if (kept != nullptr) kept->detach(&base, &bytes);
  *static_cast<void**>(buffer_addr) = base;
  *size = static_cast<MPI_Count>(bytes);
  return MPI_SUCCESS;
}

int flush(const BufferPtr& buffer) {
  const BufferPtr kept = buffer;
  if (kept != nullptr) kept->flush();
  return MPI_SUCCESS;
}

/// Ends when every message has left that was in the buffer at the call.
class Flushing final : public Operation {
 public:
  explicit Flushing(BufferPtr buffer) : buffer_(std::move(buffer)) {
    if (buffer_ != nullptr) last_ = buffer_->newest();
  }
  ~Flushing() override { Runtime::get()->polling().remove(*this); }
  int start(Request& request) override {
    request_ = &request;
    if (progress() == 0) Runtime::get()->polling().add(*this);
    return MPI_SUCCESS;
  }
  int progress() noexcept override {
    if (buffer_ != nullptr && !buffer_->flushed(last_)) return 0;
    Runtime::get()->polling().remove(*this);
    request_->core.complete.store(true, std::memory_order_release);
    return 1;
  }

 private:
  BufferPtr buffer_;
  std::uint64_t last_ = 0;
  Request* request_ = nullptr;
};

/// `comm` stays alive with the request; empty for the other buffers.
int iflush(const BufferPtr& buffer, Ref<Comm> comm, MPI_Request* handle) {
  Request* const request = Request::make(Request::Form::operation);
  request->comm = std::move(comm);
  request->operation = std::make_unique<Flushing>(buffer);
  return start_into(request, handle);
}

}  // namespace

int Buffer_attach(void* buffer, MPI_Count size) { return attach(*process_bsend_buffer(), buffer, size); }
int Buffer_detach(void* buffer_addr, MPI_Count* size) {
  return detach(process_bsend_buffer(), buffer_addr, size);
}
int Buffer_flush() { return flush(process_bsend_buffer()); }
int Buffer_iflush(MPI_Request* request) { return iflush(process_bsend_buffer(), {}, request); }

int Comm_attach_buffer(Comm& comm, void* buffer, MPI_Count size) {
  return attach(comm.bsend_buffer, buffer, size);
}
int Comm_detach_buffer(Comm& comm, void* buffer_addr, MPI_Count* size) {
  return detach(comm.bsend_buffer, buffer_addr, size);
}
int Comm_flush_buffer(Comm& comm) { return flush(comm.bsend_buffer); }
int Comm_iflush_buffer(Comm& comm, MPI_Request* request) {
  return iflush(comm.bsend_buffer, Ref<Comm>::share(&comm), request);
}

int Session_attach_buffer(Session& session, void* buffer, MPI_Count size) {
  return attach(session.bsend_buffer, buffer, size);
}
int Session_detach_buffer(Session& session, void* buffer_addr, MPI_Count* size) {
  return detach(session.bsend_buffer, buffer_addr, size);
}
int Session_flush_buffer(Session& session) { return flush(session.bsend_buffer); }
int Session_iflush_buffer(Session& session, MPI_Request* request) {
  return iflush(session.bsend_buffer, {}, request);
}

}  // namespace starling::mpi::api
