// SPDX-License-Identifier: BSD-3-Clause
// Control words in the node's segment. What is hard: the first local peer leaves one that the others still
// use, and wants to have it again. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/control_extent.hpp"

#include <algorithm>
#include <array>
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
  std::atomic<std::uint32_t> local_peers;  ///< that have not left, and kKept
  std::uint32_t first;                     ///< local rank of the first local peer
};
/// The first local peer has left and keeps it: the last one does not give it back.
constexpr std::uint32_t kKept = 1u << 31;

shm::NodeSegment& node_segment() noexcept { return Runtime::get()->place().segment(); }

/// Behind the memory, which so begins on a page.
ExtentHead& head_of(std::uint64_t offset, std::size_t bytes) noexcept {
  constexpr std::size_t kApart = alignof(ExtentHead);
  return *reinterpret_cast<ExtentHead*>(node_segment().at(offset) + (bytes + kApart - 1) / kApart * kApart);
}
std::size_t with_head(std::size_t bytes) noexcept { return bytes + alignof(ExtentHead) + sizeof(ExtentHead); }

/// What this process has reserved and left, to be used again: reserving pages is a system call of a
/// microsecond, also if they are there, in a call that takes two.
class KeptExtents {
 public:
  /// By the first local peer, in leaving. False: there is no room.
  [[nodiscard]] bool keep(std::uint64_t offset, std::size_t bytes) noexcept {
    auto room = std::find_if(all_.begin(), all_.end(), [](const Kept& one) { return one.bytes == 0; });
    if (room == all_.end()) room = std::find_if(all_.begin(), all_.end(), forget);
    if (room == all_.end()) return false;
    const std::uint64_t nonce = head_of(offset, bytes).nonce.load(std::memory_order_relaxed);
    *room = {node_segment().at(0), offset, bytes, nonce};
    return true;
  }
  /// One that all local peers have left; 0: none.
  [[nodiscard]] std::uint64_t take(std::size_t bytes) noexcept {
    for (Kept& one : all_) {
      if (one.bytes == bytes && free(one)) return std::exchange(one, {}).offset;
    }
    return 0;
  }

 private:
  struct Kept {
    const std::byte* segment = nullptr;
    std::uint64_t offset = 0;
    std::size_t bytes = 0;  ///< 0: none
    std::uint64_t nonce = 0;
  };
  /// The process may have come to another segment since.
  static bool here(const Kept& one) noexcept { return one.segment == node_segment().at(0); }
  static bool free(const Kept& one) noexcept {
    if (!here(one)) return false;
    const ExtentHead& head = head_of(one.offset, one.bytes);
    return head.nonce.load(std::memory_order_relaxed) == one.nonce &&
           head.local_peers.load(std::memory_order_acquire) == kKept;
  }
  /// Gives one back that nobody uses. False: somebody does.
  static bool forget(Kept& one) noexcept {
    if (here(one) && !free(one)) return false;
    if (here(one)) node_segment().release(one.offset, with_head(one.bytes));
    one = {};
    return true;
  }

  std::array<Kept, 4> all_;
};
KeptExtents kept_extents;

}  // namespace

ControlExtent::Offer ControlExtent::reserve(std::size_t bytes, std::size_t cleared,
                                            std::uint32_t local_peers) noexcept {
  if (bytes > kMostExtent) return {};
  std::uint64_t offset = kept_extents.take(bytes);
  if (offset == 0) {
    const auto fresh = node_segment().allocate(with_head(bytes));
    if (!fresh) return {};
    offset = *fresh;
  }
  auto* const head = new (&head_of(offset, bytes)) ExtentHead{};
  head->first = Runtime::get()->place().local_rank();
  std::memset(node_segment().at(offset), 0, cleared);
  const std::uint64_t nonce = now_ns() | 1;
  head->local_peers.store(local_peers, std::memory_order_relaxed);
  head->nonce.store(nonce, std::memory_order_release);
  return {offset, nonce};
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
  ExtentHead& head = head_of(offset_, bytes_);
  const bool keeps = head.first == Runtime::get()->place().local_rank() && kept_extents.keep(offset_, bytes_);
  // The last one sees all that the others did with it before.
  if (head.local_peers.fetch_add(keeps ? kKept - 1 : ~std::uint32_t{0}, std::memory_order_acq_rel) == 1 &&
      !keeps)
    node_segment().release(offset_, with_head(bytes_));
}

std::byte* ControlExtent::data() const noexcept {
  return offset_ == 0 ? nullptr : node_segment().at(offset_);
}

}  // namespace starling::mpi
