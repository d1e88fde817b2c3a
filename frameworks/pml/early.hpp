// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Early push: the sender of a long message writes it into the buffer of a receive that waits, without
/// asking first. Layer: framework (pml). See docs/design/early-push.md, also for why it is safe.
///
/// Threads:   the pml's.
/// Ownership: the buffer of a receive that a peer has been told of is its own again when its permit has been
///            closed, or its message has come.
/// Ordering:  envelopes go with the context's other messages. Who is told of a receive may use it for its
///            next message only: both sides count (Peer::sent, Peer::taken).
/// Errors:    where nothing can be written, messages go as others do. Nothing that a peer says is trusted.
/// Units:     bytes.

#include <cstdint>

#include "core/atomics.hpp"
#include "frameworks/btl/permit.hpp"
#include "frameworks/pml/context.hpp"
#include "frameworks/pml/peer.hpp"
#include "frameworks/pml/request_state.hpp"

namespace starling::pml {

/// In the order of the parameter's choices.
enum class EarlyPush : std::uint8_t {
  automatic,  ///< where the sender mostly waits for this process to look
  off,
  always  ///< wherever it is possible
};

class Early {
 public:
  Early(PeerTable& peers, Outbox& outbox, Notes& notes, const TransferTable& transfers,
        EarlyPush use) noexcept
      : peers_(peers), outbox_(outbox), notes_(notes), transfers_(transfers), use_(use) {}
  Early(const Early&) = delete;
  Early& operator=(const Early&) = delete;

  /// Longest message that is pushed: it is written in one go, without a look at anything else.
  static constexpr std::uint64_t kLongest = 4 * 1024 * 1024;

  // Sender
  enum class Pushed : std::uint8_t {
    no,     ///< no receive waits for it, as far as is known: it goes as others do
    again,  ///< the transport is full; nothing has happened
    done    ///< the send is complete
  };
  [[nodiscard]] Pushed push(Request& request) noexcept {
    return request.peer->invitations == nullptr ? Pushed::no : push_invited(request);
  }
  void on_invite(Peer& peer, std::span<const std::byte> message) noexcept;
  /// Whether it is worth a look at what has come before this send begins: its receiver may have told of a
  /// receive.
  [[nodiscard]] bool may_be_invited(const Request& request, const Peer& peer) const noexcept {
    return peer.invitations != nullptr && wants(request, peer) && request.buffer.bytes > peer.eager_bytes &&
           request.buffer.layout == nullptr && request.context->id().channel() == Channel::point_to_point;
  }
  /// A long send has been announced, and may be chosen to be measured.
  void announced(const Request& request) noexcept;
  /// Whether look() has to be called with each pass.
  [[nodiscard]] bool measures() const noexcept { return measured_.id != 0; }
  void look() noexcept;

  // Receiver
  /// The peer has an endpoint now.
  void met(Peer& peer) const noexcept { peer.receives_apart |= use_ == EarlyPush::always; }
  /// An announcement has found a receive that waited, and says whether the next one is to be told of.
  void waited(Peer& peer, const Request& request, std::uint8_t flags) const noexcept;
  /// A receive from this source is about to be posted, or waits already.
  void invite(Request& request, Source& source) noexcept;
  /// One that waited has matched: the next may have stood behind it.
  void invite_next(Source& source) noexcept {
    if (source.peer->receives_apart) invite_first(source);
  }
  void on_early(Peer& peer, std::span<const std::byte> message) noexcept;
  /// A posted receive is to be cancelled. False: its message is on the way.
  [[nodiscard]] bool withdraw(Request& request) noexcept;
  /// It ends now: nobody writes to its buffer any more when this returns.
  void end(Request& request) noexcept;
  void lose(Peer& peer) noexcept;

  struct Counters {
    std::uint64_t pushed = 0;     ///< messages that were written to receives that waited
    std::uint64_t bytes = 0;      ///< of these
    std::uint64_t invited = 0;    ///< receives that their sender was told of
    std::uint64_t taken = 0;      ///< of these, what came early
    std::uint64_t withdrawn = 0;  ///< of these, what was taken back
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  [[nodiscard]] Pushed push_invited(Request& request) noexcept;
  [[nodiscard]] static bool write(Request& request, const Invitation& invitation) noexcept;
  /// Sender: whether a push would spare this process a wait.
  [[nodiscard]] bool wants(const Request& request, const Peer& peer) const noexcept {
    return !peer.invitations->failed &&
           (use_ == EarlyPush::always || peer.waits.mostly(request.buffer.bytes));
  }
  [[nodiscard]] bool measured_again(const Peer& peer) const noexcept;
  [[nodiscard]] bool possible(const Request& request, const Peer& peer) const noexcept;
  [[nodiscard]] bool worth_it(Invitations& with) const noexcept;
  void invite_first(Source& source) noexcept;
  /// Forgets the last invitation of the context. False: it is still good.
  [[nodiscard]] bool clear(Peer& peer, Invitations& with, ContextId context) noexcept;
  /// -1: all permits are in use.
  [[nodiscard]] int take_permit(Peer& peer) noexcept;
  void forget_void() noexcept;
  /// `back`: its permit may be used again.
  void erase(Invitations& with, std::size_t at, bool back) noexcept;
  void forget(Invitations& with, std::size_t at) noexcept;
  void complete(Request& request, const wire::Early& header) noexcept;
  [[nodiscard]] btl::Permit<StdAtomics> permit_of(const Invited& invited) const noexcept {
    return {permits_[invited.permit], invited.generation};
  }
  [[nodiscard]] bool wait_until_written(const Invited& invited) const noexcept;

  PeerTable& peers_;
  Outbox& outbox_;
  Notes& notes_;
  const TransferTable& transfers_;
  EarlyPush use_;
  btl::Writes::Permits permits_;   ///< this process's
  std::uint64_t free_ = 0;         ///< a bit for each
  std::uint64_t generations_ = 0;  ///< the last one that was given out
  struct {
    Peer* peer = nullptr;
    std::uint64_t id = 0;  ///< of its transfer; 0: none
    std::uint64_t bytes = 0;
    std::uint64_t from_ns = 0;  ///< when this process began to wait; 0: not yet
  } measured_;                  ///< the send whose wait is being measured
  Counters counters_;
};

}  // namespace starling::pml
