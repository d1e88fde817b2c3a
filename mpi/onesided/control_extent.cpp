// SPDX-License-Identifier: BSD-3-Clause
// Control words in the node's segment. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/control_extent.hpp"

#include <atomic>
#include <cstring>
#include <new>

#include "core/clock.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

/// Larger ones get an object of their own: the segment's memory is for messages first.
constexpr std::size_t kMostExtent = 128 * 1024;

struct alignas(128) ExtentHead {
  std::atomic<std::uint64_t> nonce;
  std::atomic<std::uint32_t> mates;  ///< that have not left
};

shm::NodeSegment& node_segment() noexcept { return Runtime::get()->place().segment(); }

/// Behind the memory, which so begins on a page.
ExtentHead& head_of(std::uint64_t offset, std::size_t bytes) noexcept {
  constexpr std::size_t kApart = alignof(ExtentHead);
  return *reinterpret_cast<ExtentHead*>(node_segment().at(offset) + (bytes + kApart - 1) / kApart * kApart);
}
std::size_t with_head(std::size_t bytes) noexcept { return bytes + alignof(ExtentHead) + sizeof(ExtentHead); }

}  // namespace

ControlExtent::Offer ControlExtent::reserve(std::size_t bytes, std::size_t cleared,
                                            std::uint32_t mates) noexcept {
  if (bytes > kMostExtent) return {};
  const auto offset = node_segment().allocate(with_head(bytes));
  if (!offset) return {};
  auto* const head = new (&head_of(*offset, bytes)) ExtentHead{};
  std::memset(node_segment().at(*offset), 0, cleared);
  const std::uint64_t nonce = now_ns() | 1;
  head->mates.store(mates, std::memory_order_relaxed);
  head->nonce.store(nonce, std::memory_order_release);
  return {*offset, nonce};
}

void ControlExtent::cancel(const Offer& offer, std::size_t bytes) noexcept {
  if (offer.offset != 0) node_segment().release(offer.offset, with_head(bytes));
}

Result<ControlExtent> ControlExtent::join(const Offer& offer, std::size_t bytes) {
  if (head_of(offer.offset, bytes).nonce.load(std::memory_order_acquire) != offer.nonce)
    return fail(Errc::unsupported, "window", "the first rank of this node has other shared memory");
  return ControlExtent(offer.offset, bytes);
}

ControlExtent::~ControlExtent() {
  if (offset_ == 0 || Runtime::get() == nullptr) return;
  // The last one sees all that the others did with it before.
  if (head_of(offset_, bytes_).mates.fetch_sub(1, std::memory_order_acq_rel) == 1)
    node_segment().release(offset_, with_head(bytes_));
}

std::byte* ControlExtent::data() const noexcept {
  return offset_ == 0 ? nullptr : node_segment().at(offset_);
}

}  // namespace starling::mpi
