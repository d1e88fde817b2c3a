// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One channel of one communicator: peers, posted receives, unexpected messages. Layer: framework
/// (pml).
///
/// A rank costs an 8-byte slot in a page that is allocated when first touched, and a Source from then on;
/// nothing of size O(ranks) is made at open() but the page directory (one pointer per 512 ranks).
/// Threads:   the pml's.
/// Ownership: the context owns its Sources; peers are the table's (frameworks/peer), messages the pool's.
/// Ordering:  posted receives carry a stamp, so that specific and wildcard queues compare; an unexpected
///            message is in its source's list and in the context's arrival list.
/// Units:     bytes.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/chain.hpp"
#include "core/context_ids.hpp"
#include "core/ids.hpp"
#include "core/proc_list.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/pml/peer.hpp"
#include "frameworks/pml/request.hpp"
#include "frameworks/pml/wire.hpp"

namespace starling::pml {

struct Source;

/// An unexpected message: unmatched in a context, parked, or taken by mprobe. The payload of an eager one
/// follows it.
struct Message {
  Message* next_here = nullptr;  // in the source's list
  Message* previous_here = nullptr;
  Message* next_arrival = nullptr;  // in the context's list, or the parked list of an id
  Message* previous_arrival = nullptr;
  Peer* peer = nullptr;
  Source* from = nullptr;  ///< null while parked and once taken out
  std::uint64_t length = 0;
  std::uint64_t sender_id = 0;  ///< 0 for a plain eager message; of a pushed one the handle of its buffer
  wire::Offer offer;            ///< of an rts
  Rank rank{0};
  Tag tag{0};
  wire::Kind kind{};
  std::uint8_t flags = 0;

  [[nodiscard]] bool eager() const noexcept { return kind <= wire::Kind::eager_sync; }
  [[nodiscard]] std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] std::size_t bytes_held() const noexcept {
    return sizeof(Message) + (eager() ? static_cast<std::size_t>(length) : 0);
  }
};

/// What an eager message costs of the sender's credit: what keeping it unexpected takes at the receiver.
[[nodiscard]] constexpr std::int64_t cost_of(std::size_t bytes) noexcept {
  return static_cast<std::int64_t>((bytes + sizeof(Message) + 31) & ~std::size_t{31});
}

using MessageChain = Chain<Message, &Message::next_here, &Message::previous_here>;
using ArrivalChain = Chain<Message, &Message::next_arrival, &Message::previous_arrival>;

/// One rank of a context that has been touched.
struct Source {
  Peer* peer = nullptr;
  ContextId wire_context;   ///< how this rank's process calls the communicator: what messages to it carry
  RequestChain posted;      ///< receives that name this rank, by stamp
  MessageChain unexpected;  ///< in the order sent
  Rank rank{0};
};

class Context {
 public:
  Context(ContextIds ids, Rank my_rank, ProcListPtr ranks)
      : id_(ids.own()),
        my_rank_(my_rank),
        size_(ranks->size()),
        pages_((size_ + kPage - 1) / kPage),
        ranks_(std::move(ranks)),
        ids_(std::move(ids)) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// How this process calls it: what messages to this process carry.
  [[nodiscard]] ContextId id() const noexcept { return id_; }
  [[nodiscard]] Rank my_rank() const noexcept { return my_rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] const ProcList& ranks() const noexcept { return *ranks_; }

  /// The Source of a rank, or null if it has not been touched or the number is no rank.
  [[nodiscard]] Source* touched(Rank rank) const noexcept {
    const auto index = static_cast<std::uint32_t>(to_int(rank));
    if (index >= size_) return nullptr;
    const Page& page = pages_[index / kPage];
    return page ? page[index % kPage] : nullptr;
  }
  /// Makes the Source of an untouched rank. The rank is below size(). May throw std::bad_alloc: then there is
  /// none.
  Source& touch(Rank rank, Peer& peer) {
    const auto index = static_cast<std::uint32_t>(to_int(rank));
    Page& page = pages_[index / kPage];
    if (!page) {
      const std::uint32_t first = index / kPage * kPage;
      page = std::make_unique<Source*[]>(size_ - first < kPage ? size_ - first : kPage);
    }
    if (used_ == capacity_) add_chunk();
    Source& source = chunks_.back()[used_++];
    source.peer = &peer;
    source.wire_context = ids_.of(peer.proc.world);
    source.rank = rank;
    page[index % kPage] = &source;
    return source;
  }
  /// Calls visit(Source&) for each touched rank.
  template <class Visit>
  void each_source(Visit visit) {
    for (const Page& page : pages_) {
      if (!page) continue;
      const auto first = static_cast<std::uint32_t>(&page - pages_.data()) * kPage;
      for (std::uint32_t at = 0; at < kPage && first + at < size_; ++at) {
        if (page[at] != nullptr) visit(*page[at]);
      }
    }
  }

  RequestChain any_source;  ///< posted receives with a wildcard source, by stamp
  ArrivalChain arrivals;    ///< unexpected messages of all sources, in the order they came
  std::uint64_t stamp = 0;  ///< of the latest posted receive

 private:
  static constexpr std::uint32_t kPage = 512;
  using Page = std::unique_ptr<Source*[]>;

  void add_chunk() {
    const std::uint32_t sources = capacity_ == 0 ? 4 : (capacity_ < 512 ? capacity_ * 2 : capacity_);
    chunks_.push_back(std::make_unique<Source[]>(sources));
    capacity_ = sources;
    used_ = 0;
  }

  ContextId id_;
  Rank my_rank_;
  std::uint32_t size_;
  std::vector<Page> pages_;
  ProcListPtr ranks_;
  ContextIds ids_;
  std::vector<std::unique_ptr<Source[]>> chunks_;
  std::uint32_t used_ = 0;      // of the last chunk
  std::uint32_t capacity_ = 0;  // of the last chunk
};

}  // namespace starling::pml
