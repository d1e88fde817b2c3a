// SPDX-License-Identifier: BSD-3-Clause
// The receiving side. What is hard: how many messages come is known only when the offer has come, perhaps
// after the start; and a sender's partition may begin and end within elements of the receiver. Layer: mpi.

#include "mpi/partitioned/receive.hpp"

#include <new>
#include <string>

#include "mpi/error.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/status.hpp"

namespace starling::mpi::partitioned {

Receive::Receive(void* buffer, std::uint32_t partitions, std::uint64_t count, Datatype& datatype, int source)
    : buffer_(buffer),
      partitions_(partitions),
      count_(count),
      datatype_(Ref<Datatype>::share(&datatype)),
      source_(source) {}

Receive::~Receive() {
  Runtime& runtime = *Runtime::get();
  runtime.polling().remove(*this);
  if (context_ == nullptr || offer_request_.complete.load(std::memory_order_acquire)) return;
  // Freed before any sender came; an offer that is just arriving is waited for.
  runtime.pml().cancel(offer_request_);
  runtime.waits().wait([this] { return offer_request_.complete.load(std::memory_order_acquire); });
}

int Receive::expect(Comm& comm, int tag) {
  tag_ = Tag{tag};
  if (source_ == MPI_PROC_NULL) return MPI_SUCCESS;
  auto context = comm.partitioned_context();
  if (!context) return error(context.error());
  context_ = *context;
  offer_request_.buffer = {&offer_, sizeof offer_, 0, nullptr};
  offer_request_.context = context_;
  offer_request_.rank = Rank{source_};
  offer_request_.tag = tag_;
  offer_request_.receive = true;
  Runtime::get()->pml().irecv(offer_request_);
  return MPI_SUCCESS;
}

int Receive::start(Request& request) {
  request_ = &request;
  posted_ = false;
  done_ = 0;
  if (progress() == 0) Runtime::get()->polling().add(*this);
  return MPI_SUCCESS;
}

bool Receive::offered() const noexcept {
  return offer_request_.status.fault == pml::Fault::none && offer_.layout == 1;
}

bool Receive::fits() const noexcept {
  return offer_.bytes_each * offer_.partitions == elements() * datatype_->size();
}

/// Nowhere for what does not fit: it is received all the same, so that its sender can go on.
pml::Buffer Receive::place_of(std::uint32_t part) const noexcept {
  const std::uint64_t each = offer_.bytes_each;
  if (!fits()) return {};
  if (!datatype_->contiguous()) return {buffer_, each, 1, each == 0 ? nullptr : &slices_[part]};
  return {static_cast<std::byte*>(buffer_) + datatype_->true_lb() + part * each, each, 0, nullptr};
}

void Receive::post() {
  posted_ = true;
  if (!offered()) return;
  if (parts_ == nullptr) {
    parts_ = std::make_unique<pml::Request[]>(offer_.partitions);
    if (fits()) slices_.reserve(offer_.partitions);
    for (std::uint32_t i = 0; fits() && i < offer_.partitions; ++i)
      slices_.emplace_back(*datatype_, elements(), i * offer_.bytes_each, offer_.bytes_each);
  }
  for (std::uint32_t i = 0; i < offer_.partitions; ++i) {
    pml::Request& part = parts_[i];
    part.complete.store(false, std::memory_order_relaxed);
    part.status = {};
    part.buffer = place_of(i);
    part.context = context_;
    part.rank = Rank{source_};
    part.tag = Tag{offer_.first_tag - static_cast<std::int32_t>(i)};
    part.receive = true;
    Runtime::get()->pml().irecv(part);
  }
}

int Receive::progress() noexcept {
  if (source_ != MPI_PROC_NULL) {
    if (!offer_request_.complete.load(std::memory_order_acquire)) return 0;
    if (!posted_) {
      try {
        post();
      } catch (const std::bad_alloc&) {
        offer_request_.status.fault = pml::Fault::no_memory;
      }
    }
    if (offered()) {
      while (done_ < offer_.partitions && arrived_from(done_)) ++done_;
      if (done_ != offer_.partitions) return 0;
    }
  }
  Runtime::get()->polling().remove(*this);
  request_->core.complete.store(true, std::memory_order_release);
  return 1;
}

bool Receive::arrived_from(std::uint32_t part) const noexcept {
  return parts_[part].complete.load(std::memory_order_acquire);
}

bool Receive::arrived(std::uint32_t partition) const noexcept {
  if (request_ == nullptr || !request_->active || request_->done()) return true;
  if (!posted_ || parts_ == nullptr || !fits()) return false;
  const std::uint64_t bytes = count_ * datatype_->size();
  if (bytes == 0) return false;  // nothing tells one empty partition from another: they arrive together
  const std::uint64_t first = partition * bytes / offer_.bytes_each;
  const std::uint64_t last = ((partition + 1) * bytes - 1) / offer_.bytes_each;
  for (std::uint64_t part = first; part <= last; ++part) {
    if (!arrived_from(static_cast<std::uint32_t>(part))) return false;
  }
  return true;
}

int Receive::finish(MPI_Status& status) {
  if (source_ == MPI_PROC_NULL) {
    status.MPI_SOURCE = MPI_PROC_NULL;
    return MPI_SUCCESS;
  }
  status.MPI_SOURCE = source_;
  status.MPI_TAG = to_int(tag_);
  const Comm* const comm = request_->comm.get();
  if (offer_request_.status.fault != pml::Fault::none) return fault_error(offer_request_, comm);
  for (std::uint32_t i = 0; offered() && i < offer_.partitions; ++i) {
    const bool dropped = !fits() && parts_[i].status.fault == pml::Fault::truncated;
    if (parts_[i].status.fault != pml::Fault::none && !dropped) return fault_error(parts_[i], comm);
  }
  if (!offered() || !fits()) {
    return error_on(*comm, MPI_ERR_TRUNCATE,
                    "the sender, rank " + std::to_string(source_) + ", has " +
                        std::to_string(offer_.bytes_each * offer_.partitions) + " bytes in its partitions, " +
                        "expected " + std::to_string(elements() * datatype_->size()));
  }
  set_bytes(status, elements() * datatype_->size());
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::partitioned
