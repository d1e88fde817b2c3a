// SPDX-License-Identifier: BSD-3-Clause
// Send-receives that do not block. Layer: mpi. MPI 5.0 section 3.11.

#include <memory>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/other_half.hpp"
#include "mpi/api/pt2pt/transfer.hpp"

namespace starling::mpi::api {
namespace {

/// A send and a receive behind one request, whose status is that of the receive.
class Exchange final : public Operation {
 public:
  Exchange(const Transfer& out, const Transfer& in, std::unique_ptr<std::byte[]> copy)
      : copy_(std::move(copy)),
        sends_(out.rank != MPI_PROC_NULL),
        receives_(in.rank != MPI_PROC_NULL),
        sent_type_(Ref<Datatype>::share(&out.datatype)),
        received_type_(Ref<Datatype>::share(&in.datatype)) {
    out.fill(outgoing_, pml::Mode::standard, false);
    in.fill(incoming_, pml::Mode::standard, true);
    if (copy_ != nullptr) outgoing_.buffer = {copy_.get(), outgoing_.buffer.bytes, 0, nullptr};
  }
  ~Exchange() override { Runtime::get()->polling().remove(*this); }

  int start(Request& request) override {
    request_ = &request;
    if (receives_) Runtime::get()->pml().irecv(incoming_);
    if (sends_) Runtime::get()->pml().isend(outgoing_);
    if (progress() == 0) Runtime::get()->polling().add(*this);
    return MPI_SUCCESS;
  }
  int progress() noexcept override {
    if (sends_ && !outgoing_.complete.load(std::memory_order_acquire)) return 0;
    if (receives_ && !incoming_.complete.load(std::memory_order_acquire)) {
      if (!sends_ || outgoing_.status.fault == pml::Fault::none) return 0;
      end_other_half(names::Isendrecv, outgoing_, incoming_, *request_->comm);
      if (!incoming_.complete.load(std::memory_order_acquire)) return 0;
    }
    Runtime::get()->polling().remove(*this);
    request_->core.complete.store(true, std::memory_order_release);
    return 1;
  }
  [[nodiscard]] pml::Request* awaited() noexcept override {
    const bool sent = !sends_ || outgoing_.complete.load(std::memory_order_acquire);
    return sent && receives_ ? &incoming_ : nullptr;
  }
  int finish(MPI_Status& status) override {
    if (receives_) {
      fill_status(incoming_.status, status);
    } else {
      status.MPI_SOURCE = MPI_PROC_NULL;
    }
    const pml::Request& first = sends_ && outgoing_.status.fault != pml::Fault::none ? outgoing_ : incoming_;
    return first.status.fault == pml::Fault::none ? MPI_SUCCESS : fault_error(first, request_->comm.get());
  }

 private:
  pml::Request outgoing_, incoming_;
  std::unique_ptr<std::byte[]> copy_;  ///< what MPI_Isendrecv_replace sends
  bool sends_, receives_;
  Ref<Datatype> sent_type_, received_type_;
  Request* request_ = nullptr;
};

int start(const Transfer& out, const Transfer& in, std::unique_ptr<std::byte[]> copy, MPI_Request* handle) {
  Request* const request = Request::make(Request::Form::operation);
  request->comm = Ref<Comm>::share(&out.comm);
  request->operation = std::make_unique<Exchange>(out, in, std::move(copy));
  return start_into(request, handle);
}

}  // namespace

int Isendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag,
              void* recvbuf, MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm,
              MPI_Request* request) {
  return start({sendbuf, sendcount, sendtype, dest, sendtag, comm},
               {recvbuf, recvcount, recvtype, source, recvtag, comm}, nullptr, request);
}

int Isendrecv_replace(void* buf, MPI_Count count, Datatype& datatype, int dest, int sendtag, int source,
                      int recvtag, Comm& comm, MPI_Request* request) {
  const auto elements = static_cast<std::uint64_t>(count);
  const std::uint64_t bytes = elements * datatype.size();
  auto copy = std::make_unique<std::byte[]>(bytes);
  datatype.pack(buf, elements, 0, copy.get(), bytes);
  return start({buf, count, datatype, dest, sendtag, comm}, {buf, count, datatype, source, recvtag, comm},
               std::move(copy), request);
}

}  // namespace starling::mpi::api
