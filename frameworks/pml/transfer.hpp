// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A message that a peer refers to by a number: what is known of it on this side. Layer: framework
/// (pml).
///
/// Announced and synchronous messages need answers. A peer never sees a pointer: an id is {generation,
/// index}, so a late or malformed answer finds nothing instead of a recycled transfer. 0 is never an id.
/// Threads:   the pml's.
/// Ownership: transfers are the table's and stay where they are; requests are their callers'.
/// Errors:    without memory add() gives null: the message ends with Fault::no_memory.
/// Units:     bytes and nanoseconds.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "core/chain.hpp"
#include "core/stack.hpp"
#include "frameworks/pml/request.hpp"
#include "frameworks/pml/size_classes.hpp"
#include "frameworks/pml/wire.hpp"

namespace starling::pml {

class Protocol;

/// Number of a protocol: its place in the list that the engine was made with. These come first in the
/// standard list; a plugin's own follow.
enum class Large : std::uint8_t {
  ring,  ///< pushed by the sender in fragments
  get,   ///< got by the receiver from the sender's memory
  lend   ///< lent by the sender and copied by the receiver
};

/// Protocols of one engine at most.
inline constexpr std::size_t kProtocolsMax = 6;

struct Transfer {
  enum class Stage : std::uint8_t {
    announced,  ///< a send that has not been answered
    undecided,  ///< a receive that has matched, whose protocol progress() chooses
    moving,     ///< its protocol has it
    settling    ///< a send whose data have all left; its protocol waits for the last answer
  };

  Request* request = nullptr;
  Peer* peer = nullptr;
  Protocol* protocol = nullptr;  ///< null until one has been chosen
  Transfer* next = nullptr;      ///< in a TransferChain
  Transfer* previous = nullptr;
  std::uint64_t id = 0;        ///< what the peer calls it
  std::uint64_t remote = 0;    ///< what the peer has to be told
  std::uint64_t total = 0;     ///< bytes that move
  std::uint64_t moved = 0;     ///< of these, or of the stream's beginning
  wire::Offer offer;           ///< of a receive: what its sender said of its memory
  std::uint64_t begun_ns = 0;  ///< of a receive that is timed
  std::uint32_t trial = 0;     ///< LargeChoice::trial
  Stage stage = Stage::announced;
  Large number = Large::ring;  ///< of `protocol`
  bool receive = false;
  bool queued = false;      ///< in the queue of its protocol
  bool announced = false;   ///< counted in Peer::announced
  bool long_send = false;   ///< counted in Exchange::long_sends
  bool contiguous = false;  ///< on both sides, as far as is known here
  bool borrowed = false;    ///< an eager send that the transport reads out of the user's memory

  /// What its protocol keeps of it. It begins when the protocol makes it, and is forgotten without a
  /// destructor.
  template <class T>
  [[nodiscard]] T& state() noexcept {
    static_assert(sizeof(T) <= kOwnBytes && alignof(T) <= 16 && std::is_trivially_destructible_v<T>);
    return *std::launder(reinterpret_cast<T*>(own));
  }
  template <class T, class... Arguments>
  T& make_state(Arguments&&... arguments) noexcept {
    static_assert(sizeof(T) <= kOwnBytes && alignof(T) <= 16 && std::is_trivially_destructible_v<T>);
    return *new (own) T{std::forward<Arguments>(arguments)...};
  }
  static constexpr std::size_t kOwnBytes = 48;
  alignas(16) std::byte own[kOwnBytes];
};

using TransferChain = Chain<Transfer, &Transfer::next, &Transfer::previous>;

class TransferTable {
 public:
  TransferTable() = default;
  TransferTable(const TransferTable&) = delete;
  TransferTable& operator=(const TransferTable&) = delete;
  ~TransferTable() {
    while (Page* const page = pages_.pop()) delete page;
  }

  /// Null: no memory.
  [[nodiscard]] Transfer* add(Request& request, Peer& peer) noexcept {
    if (free_.empty() && !grow()) return nullptr;
    Slot& slot = *free_.pop();
    slot.used = true;
    Transfer& transfer = slot.transfer;
    transfer = {};
    transfer.id = (std::uint64_t{slot.generation} << 32) | slot.index;
    transfer.request = &request;
    transfer.peer = &peer;
    transfer.receive = request.receive;
    ++live_;
    return &transfer;
  }
  [[nodiscard]] Transfer* find(std::uint64_t id) const noexcept {
    std::uint64_t index = id & 0xffffffffu;
    if (index >= slots_) return nullptr;
    Page* page = pages_.top();
    // The newest page is the first; a process has more than one only with hundreds of messages under way.
    while (index < page->first) page = page->next;
    Slot& slot = page->slots[index - page->first];
    return slot.used && slot.generation == id >> 32 ? &slot.transfer : nullptr;
  }
  void remove(Transfer& transfer) noexcept {
    Slot& slot = reinterpret_cast<Slot&>(transfer);
    slot.used = false;
    if (++slot.generation == 0) slot.generation = 1;
    free_.push(slot);
    --live_;
  }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  /// Calls visit(Transfer&) for each; visit may remove what it is given, not add.
  template <class Visit>
  void each(Visit visit) const {
    for (Page* page = pages_.top(); page != nullptr; page = Stack<Page, &Page::next>::after(*page)) {
      for (std::uint32_t at = 0; at < page->count; ++at) {
        if (page->slots[at].used) visit(page->slots[at].transfer);
      }
    }
  }

 private:
  struct Slot {
    Transfer transfer;  // first: remove() finds the slot by it
    Slot* next_free = nullptr;
    std::uint32_t index = 0;
    std::uint32_t generation = 1;
    bool used = false;
  };
  static_assert(std::is_standard_layout_v<Slot>);
  /// Each page is as large as all before it, so that few are ever walked.
  struct Page {
    Page* next = nullptr;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::unique_ptr<Slot[]> slots;
  };
  static constexpr std::uint32_t kFirst = 32;

  [[gnu::noinline]] bool grow() noexcept {
    std::unique_ptr<Page> page(new (std::nothrow) Page);
    if (page == nullptr) return false;
    page->first = slots_;
    page->count = slots_ == 0 ? kFirst : slots_;
    page->slots.reset(new (std::nothrow) Slot[page->count]);
    if (page->slots == nullptr) return false;
    for (std::uint32_t at = page->count; at-- > 0;) {
      Slot& slot = page->slots[at];
      slot.index = page->first + at;
      free_.push(slot);
    }
    slots_ += page->count;
    pages_.push(*page.release());
    return true;
  }

  Stack<Page, &Page::next> pages_;
  Stack<Slot, &Slot::next_free> free_;
  std::uint32_t slots_ = 0;
  std::size_t live_ = 0;
};

/// What a protocol keeps of a peer.
class ProtocolState {
 public:
  virtual ~ProtocolState() = default;
};

struct ProtocolPeer {
  TransferChain queue;                   ///< what Protocol::push() takes further
  std::unique_ptr<ProtocolState> state;  ///< the protocol's own; null until it makes one
  bool off = false;                      ///< it has failed with this peer, and is not used with it again
};

/// What the rendezvous keeps of a peer.
struct Exchange {
  std::uint32_t long_sends = 0;                  ///< our long sends to it that have not ended
  std::uint32_t receives = 0;                    ///< announced receives from it whose data are under way
  bool both_ways = false;                        ///< both have had long messages under way
  TransferChain undecided;                       ///< matched receives whose protocol progress() chooses
  std::uint64_t trial_end_ns = 0;                ///< when the last receive of a trial has ended
  std::array<ProtocolPeer, kProtocolsMax> with;  ///< by number of the protocol
  /// How it has taken the last of our long messages of each class of sizes.
  std::array<Large, SizeClasses::kCount> its_protocols{};

  [[nodiscard]] Large its_protocol(std::uint64_t bytes) const noexcept {
    return its_protocols[SizeClasses::of(bytes)];
  }

  [[nodiscard]] bool waiting() const noexcept {
    if (!undecided.empty()) return true;
    for (const ProtocolPeer& protocol : with) {
      if (!protocol.queue.empty()) return true;
    }
    return false;
  }
};

}  // namespace starling::pml
