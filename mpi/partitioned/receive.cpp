// SPDX-License-Identifier: BSD-3-Clause
// The receiving side. What is hard: how many messages come is known only when the offer has come, perhaps
// after the start; and a sender's partition may begin and end within elements of the receiver. Layer: mpi.

#include "mpi/partitioned/receive.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "mpi/error.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/status.hpp"

namespace starling::mpi::partitioned {
namespace {

/// Keeps it until an offer has come, so that no later receive gets that, or its communicator is closed.
void leave_posted(std::unique_ptr<Expected> expected) {
  static auto* const left = new std::vector<std::unique_ptr<Expected>>;
  const auto ended = [](const auto& one) { return one->request.complete.load(std::memory_order_acquire); };
  left->erase(std::remove_if(left->begin(), left->end(), ended), left->end());
  left->push_back(std::move(expected));
}

}  // namespace

Receive::Receive(void* buffer, std::uint32_t partitions, std::uint64_t count, Datatype& datatype, int source)
    : buffer_(buffer),
      partitions_(partitions),
      count_(count),
      datatype_(Ref<Datatype>::share(&datatype)),
      source_(source),
      expected_(std::make_unique<Expected>()) {}

Receive::~Receive() {
  Runtime::get()->polling().remove(*this);
  if (context_ == nullptr || expected_->request.complete.load(std::memory_order_acquire)) return;
  // Freed before its sender came, which it matches all the same.
  leave_posted(std::move(expected_));
}

int Receive::expect(Comm& comm, int tag) {
  tag_ = Tag{tag};
  if (source_ == MPI_PROC_NULL) return MPI_SUCCESS;
  auto context = comm.partitioned_context();
  if (!context) return error(context.error());
  context_ = *context;
  expected_->request.buffer = {&expected_->offer, sizeof(Offer), 0, nullptr};
  expected_->request.context = context_;
  expected_->request.rank = Rank{source_};
  expected_->request.tag = tag_;
  expected_->request.receive = true;
  Runtime::get()->pml().irecv(expected_->request);
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
  return expected_->request.status.fault == pml::Fault::none && offer().layout == 1;
}

/// Nowhere for what does not fit: it is received all the same, so that its sender can go on.
pml::Buffer Receive::place_of(std::uint32_t part) const noexcept {
  const std::uint64_t each = offer().bytes_each;
  if (!fits()) return {};
  if (!datatype_->contiguous()) return {buffer_, each, 1, each == 0 ? nullptr : &slices_[part]};
  return {static_cast<std::byte*>(buffer_) + datatype_->true_lb() + part * each, each, 0, nullptr};
}

void Receive::post() {
  posted_ = true;
  if (!offered()) return;
  if (parts_ == nullptr) {
    parts_ = std::make_unique<pml::Request[]>(offer().partitions);
    if (fits()) slices_.reserve(offer().partitions);
    for (std::uint32_t i = 0; fits() && i < offer().partitions; ++i)
      slices_.emplace_back(*datatype_, elements(), i * offer().bytes_each, offer().bytes_each);
  }
  for (std::uint32_t i = 0; i < offer().partitions; ++i) {
    pml::Request& part = parts_[i];
    part.complete.store(false, std::memory_order_relaxed);
    part.status = {};
    part.buffer = place_of(i);
    part.context = context_;
    part.rank = Rank{source_};
    part.tag = Tag{offer().first_tag - static_cast<std::int32_t>(i)};
    part.receive = true;
    Runtime::get()->pml().irecv(part);
  }
}

int Receive::progress() noexcept {
  if (source_ != MPI_PROC_NULL) {
    if (!expected_->request.complete.load(std::memory_order_acquire)) return 0;
    if (!posted_) {
      try {
        post();
      } catch (const std::bad_alloc&) {
        expected_->request.status.fault = pml::Fault::no_memory;
      }
    }
    if (offered()) {
      while (done_ < offer().partitions && arrived_from(done_)) ++done_;
      if (done_ != offer().partitions) return 0;
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
  if ((partition + 1) * bytes > sent_bytes()) return false;  // a shorter send brings only some of it, or none
  const std::uint64_t first = partition * bytes / offer().bytes_each;
  const std::uint64_t last = ((partition + 1) * bytes - 1) / offer().bytes_each;
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
  if (expected_->request.status.fault != pml::Fault::none) return fault_error(expected_->request, comm);
  for (std::uint32_t i = 0; offered() && i < offer().partitions; ++i) {
    const bool dropped = !fits() && parts_[i].status.fault == pml::Fault::truncated;
    if (parts_[i].status.fault != pml::Fault::none && !dropped) return fault_error(parts_[i], comm);
  }
  if (!offered() || sent_bytes() != expected_bytes()) return differ(status);
  set_bytes(status, expected_bytes());
  return MPI_SUCCESS;
}

/// Both sides have to have the same amount of data. What a shorter send brings is in the buffer.
int Receive::differ(MPI_Status& status) const {
  const std::string who = "the sender, rank " + std::to_string(source_) + ", ";
  const Comm& comm = *request_->comm;
  if (!offered()) return error_on(comm, MPI_ERR_OTHER, who + "has an offer that this rank does not know");
  const bool all = fits();
  set_bytes(status, all ? sent_bytes() : 0);
  return error_on(comm, all ? MPI_ERR_COUNT : MPI_ERR_TRUNCATE,
                  who + "has " + std::to_string(sent_bytes()) +
                      " bytes in its partitions, this rank expects " + std::to_string(expected_bytes()) +
                      (all ? ", of which those sent are in the buffer" : " and has written none of them"));
}

}  // namespace starling::mpi::partitioned
