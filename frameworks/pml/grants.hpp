// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Buffers that a receiver has granted to a sender of its node, which writes messages there before
/// anybody has asked for them. Layer: framework (pml). See docs/design/managed-buffers.md, "Pushing".
///
/// A grant is one buffer of the receiver's pool, for one message of one context and tag. It is given when a
/// receive whose buffer the library provides has matched a long message of that sender. The sender uses it
/// for a later message: it writes the bytes and sends their envelope, in order with all others. Matching
/// happens as always; where a managed receive is found the buffer becomes its own, and another one is
/// granted.
///
/// Threads:   the pml's.
/// Ownership: a granted buffer is the sender's to write to until its envelope has come, or it has been
///            returned. That of a lost peer is never used again, since it may live.
/// Ordering:  envelopes go with the context's other messages.
/// Errors:    without memory or a map messages go as others do. Nothing that a peer says is trusted: an
///            envelope counts only for a buffer that was granted to its sender, for that context and tag.
/// Units:     bytes.

#include <cstdint>
#include <memory>
#include <vector>

#include "frameworks/pml/arrival.hpp"
#include "frameworks/pml/matcher.hpp"
#include "frameworks/pml/peer.hpp"
#include "frameworks/pml/request_state.hpp"
#include "frameworks/shm/memory/buffer_pool.hpp"

namespace starling::pml {

class Grants {
 public:
  Grants(PeerTable& peers, Outbox& outbox, Notes& notes, Matcher& matcher) noexcept
      : peers_(peers), outbox_(outbox), notes_(notes), matcher_(matcher) {}
  Grants(const Grants&) = delete;
  Grants& operator=(const Grants&) = delete;

  /// Longest message that is pushed: the copy is made in one go, without a look at anything else.
  static constexpr std::uint64_t kLongest = 4 * 1024 * 1024;
  /// Buffers that wait for messages of one sender, context and tag.
  static constexpr unsigned kAhead = 2;

  // Sender
  enum class Pushed : std::uint8_t {
    no,     ///< no buffer for it, or not mapped yet: it goes as others do
    again,  ///< the transport is full; nothing has happened
    done    ///< the send is complete
  };
  [[nodiscard]] Pushed push(Request& request) noexcept {
    return request.peer->grants == nullptr ? Pushed::no : push_granted(request);
  }
  /// A message about a grant: `grant` or, for a receiver, `returned`.
  void on_message(Peer& peer, std::span<const std::byte> message) noexcept;

  // Receiver
  /// A message that has been pushed, as matching sees it; false: it is none of this peer's.
  [[nodiscard]] bool arrived(Peer& peer, std::span<const std::byte> message, ContextId& context,
                             Arrival& arrival) noexcept;
  /// It has found its receive.
  void match(Request& request, Peer& peer, const Arrival& arrival) noexcept;
  /// Nobody will receive it.
  void refuse(const Arrival& arrival) noexcept { pool_->give({arrival.sender_id}); }
  /// A managed receive is about to take a long message of this peer: the next ones may be pushed.
  void offer(Peer& peer, const Request& request, const Arrival& arrival) noexcept;

  // Both
  /// The context has been closed here: what was granted to this process for it goes back.
  void close(ContextId context) noexcept;
  void lose(Peer& peer) noexcept { peer.grants.reset(); }

  struct Counters {
    std::uint64_t pushed = 0;   ///< messages that were written to granted buffers
    std::uint64_t bytes = 0;    ///< of these
    std::uint64_t adopted = 0;  ///< received ones whose buffer went to the program
    std::uint64_t copied = 0;   ///< received ones that an ordinary receive got
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  [[nodiscard]] Pushed push_granted(Request& request) noexcept;
  void on_grant(Peer& peer, const wire::Grant& grant) noexcept;
  void on_returned(Peer& peer, const wire::Grant& grant) noexcept;
  void give_back(Peer& peer, const Granted& grant) noexcept;
  [[nodiscard]] bool grant(Peer& peer, ContextId context, Rank rank, Tag tag, std::uint64_t bytes) noexcept;

  PeerTable& peers_;
  Outbox& outbox_;
  Notes& notes_;
  Matcher& matcher_;
  shm::BufferPool* pool_ = nullptr;  ///< this process's, once a managed receive has shown it
  std::size_t granted_bytes_ = 0;    ///< of the pool, that others may write to
  Counters counters_;
};

}  // namespace starling::pml
