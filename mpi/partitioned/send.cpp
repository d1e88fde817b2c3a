// SPDX-License-Identifier: BSD-3-Clause
// The sending side. What is hard: the offer may leave after its operation has been freed, so it is a request
// of its own. Layer: mpi.

#include "mpi/partitioned/send.hpp"

#include "mpi/error.hpp"
#include "mpi/request/detached.hpp"
#include "mpi/request/fault.hpp"

namespace starling::mpi::partitioned {
namespace {

/// The offer on its way.
class OfferMessage final : public Operation {
 public:
  OfferMessage(const Offer& offer, pml::Context& context, int dest, int tag) : offer_(offer) {
    message_.buffer = {&offer_, sizeof offer_, 0, nullptr};
    message_.context = &context;
    message_.rank = Rank{dest};
    message_.tag = Tag{tag};
  }
  ~OfferMessage() override { Runtime::get()->polling().remove(*this); }
  int start(Request& request) override {
    request_ = &request;
    Runtime::get()->pml().isend(message_);
    if (progress() == 0) Runtime::get()->polling().add(*this);
    return MPI_SUCCESS;
  }
  int progress() noexcept override {
    if (!message_.complete.load(std::memory_order_acquire)) return 0;
    Runtime::get()->polling().remove(*this);
    request_->core.complete.store(true, std::memory_order_release);
    return 1;
  }

 private:
  Offer offer_;
  pml::Request message_;
  Request* request_ = nullptr;
};

}  // namespace

Send::Send(const void* buffer, std::uint32_t partitions, std::uint64_t count, Datatype& datatype, int dest)
    : buffer_(buffer),
      partitions_(partitions),
      count_(count),
      datatype_(Ref<Datatype>::share(&datatype)),
      dest_(dest),
      parts_(std::make_unique<Part[]>(partitions)) {}

Send::~Send() { Runtime::get()->polling().remove(*this); }

int Send::offer(Comm& comm, int tag) {
  if (dest_ == MPI_PROC_NULL) return MPI_SUCCESS;
  auto context = comm.partitioned_context();
  if (!context) return error(context.error());
  context_ = *context;
  first_tag_ = comm.take_partition_tags(partitions_);
  Offer told;
  told.partitions = partitions_;
  told.bytes_each = count_ * datatype_->size();
  told.first_tag = first_tag_;
  Request* const request = Request::make(Request::Form::operation);
  request->comm = Ref<Comm>::share(&comm);
  request->operation = std::make_unique<OfferMessage>(told, **context, dest_, tag);
  const int rc = request->start();
  if (request->done()) {
    request->free();
  } else {
    detach(*request);
  }
  return rc;
}

int Send::start(Request& request) {
  request_ = &request;
  given_ = done_ = 0;
  for (std::uint32_t i = 0; i < partitions_; ++i) parts_[i].given = false;
  if (progress() == 0) Runtime::get()->polling().add(*this);
  return MPI_SUCCESS;
}

void Send::set_ready(std::uint32_t partition) {
  Part& part = parts_[partition];
  part.given = true;
  ++given_;
  if (dest_ == MPI_PROC_NULL) {
    (void)progress();
    return;
  }
  pml::Request& message = part.message;
  message.complete.store(false, std::memory_order_relaxed);
  message.status = {};
  const auto* const at = static_cast<const std::byte*>(buffer_) +
                         static_cast<std::int64_t>(partition * count_) * datatype_->extent();
  message.buffer = datatype_->buffer(at, count_);
  message.context = context_;
  message.rank = Rank{dest_};
  message.tag = Tag{first_tag_ - static_cast<std::int32_t>(partition)};
  Runtime::get()->pml().isend(message);
  if (given_ == partitions_ && progress() != 0) Runtime::get()->polling().wake();
}

int Send::progress() noexcept {
  if (given_ != partitions_) return 0;
  if (dest_ != MPI_PROC_NULL) {
    while (done_ < partitions_ && parts_[done_].message.complete.load(std::memory_order_acquire)) ++done_;
    if (done_ != partitions_) return 0;
  }
  Runtime::get()->polling().remove(*this);
  request_->core.complete.store(true, std::memory_order_release);
  return 1;
}

int Send::finish(MPI_Status&) {
  for (std::uint32_t i = 0; i < partitions_; ++i) {
    const pml::Request& message = parts_[i].message;
    if (message.status.fault != pml::Fault::none) return fault_error(message, request_->comm.get());
  }
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::partitioned
