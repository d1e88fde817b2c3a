// SPDX-License-Identifier: BSD-3-Clause
// Memory of a domain. What is hard: whatever fails on one member, the others are in the same exchange. Layer:
// mpi. docs/design/onesided.md

#include "mpi/onesided/domain_memory.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "frameworks/shm/memory/maps.hpp"
#include "mpi/creation/exchange.hpp"
#include "mpi/error.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

/// Parts of allocated windows begin on cache lines of their own, and pages of their own if they fill some:
/// so who writes a page first decides where it lies.
constexpr std::uint64_t kLine = 128, kPage = 4096;

std::uint64_t up(std::uint64_t value, std::uint64_t to) noexcept { return (value + to - 1) / to * to; }

/// Up to here it is taken from the node's segment: an object takes 40 us to make, to hand over and to free.
constexpr std::uint64_t kMostSmall = 64 * 1024;

}  // namespace

/// Where a domain's first local peer has the memory; bytes 0: nowhere.
struct DomainMemory::Offer {
  std::uint64_t address = 0;  ///< of an object; else it is an extent
  std::uint64_t bytes = 0;
  ControlExtent::Offer extent;
};

void DomainMemory::lay_out_control() noexcept {
  bytes_ = up(Control::bytes(static_cast<std::uint32_t>(domain_.local_peers.size()), more_), kPage);
}

/// Contiguous parts follow each other without a gap (section 12.2.3).
void DomainMemory::lay_out(const Proposals& proposals, bool contiguous) {
  lay_out_control();
  for (const std::uint32_t rank : domain_.local_peers) {
    const Proposal& proposal = proposals[rank];
    if (!contiguous) {
      bytes_ =
          up(bytes_, std::max<std::uint64_t>(proposal.alignment, proposal.size >= kPage ? kPage : kLine));
    }
    offsets_.push_back(bytes_);
    bytes_ += proposal.size;
  }
}

Result<void> DomainMemory::stand_by() {
  const Offer none;
  std::vector<Offer> offers(comm_.size());
  const int rc =
      allgather_bytes(comm_, std::as_bytes(std::span(&none, 1)), std::as_writable_bytes(std::span(offers)));
  if (rc != MPI_SUCCESS) return fail(Errc::peer_lost, "window", std::string(last_error_detail()));
  return {};
}

Result<void> DomainMemory::make_alone() {
  auto made = Mapping::anonymous(bytes_);
  if (!made) return fail(std::move(made).error().within("window"));
  mapping_ = std::move(*made);
  return {};
}

/// By the first local peer.
Result<void> DomainMemory::offer(Offer& mine) {
  if (bytes_ <= kMostSmall)
    mine.extent =
        ControlExtent::reserve(bytes_, bytes_, static_cast<std::uint32_t>(domain_.local_peers.size()));
  if (mine.extent.offset == 0) {
    auto made = Runtime::get()->allocated_memory().offer(bytes_);
    if (!made) return fail(std::move(made).error());
    offered_ = *made;
    mine.address = reinterpret_cast<std::uintptr_t>(offered_);
  }
  mine.bytes = bytes_;
  return {};
}

Result<void> DomainMemory::accept(const Offer& offer) {
  if (offer.extent.offset != 0) {
    auto joined = ControlExtent::join(offer.extent, bytes_);
    if (!joined) return fail(std::move(joined).error());
    extent_ = std::move(*joined);
    return {};
  }
  if (domain_.seat == 0) return {};
  shm::MemoryMaps maps(Runtime::get()->place().segment(), 1, Access::read_write);
  auto mapping = maps.fetch(local_ranks_[0], offer.address, offer.bytes);
  if (!mapping) return fail(std::move(mapping).error());
  mapping_ = std::move(*mapping);
  return {};
}

Result<void> DomainMemory::share() {
  Offer mine;
  Result<void> got;
  if (domain_.local_peers.size() == 1) {
    got = make_alone();
  } else if (domain_.seat == 0) {
    got = offer(mine);
  }
  if (comm_.size() == 1) return got;
  std::vector<Offer> offers(comm_.size());
  const int rc = allgather_bytes(comm_, bytes_of(mine), std::as_writable_bytes(std::span(offers)));
  if (rc != MPI_SUCCESS) return fail(Errc::peer_lost, "window", std::string(last_error_detail()));
  if (domain_.local_peers.size() == 1 || !got) return got;
  const Offer& offer = offers[domain_.local_peers[0]];
  if (offer.bytes != 0) return accept(offer);
  return fail(Errc::no_space, "window",
              "rank " + std::to_string(domain_.local_peers[0]) + " cannot have the window's memory");
}

void DomainMemory::close() noexcept {
  if (offered_ != nullptr)
    mapping_ = Runtime::get()->allocated_memory().withdraw(std::exchange(offered_, nullptr));
}

}  // namespace starling::mpi
