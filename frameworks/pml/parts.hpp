// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Eager messages that go in parts: the receiver copies one while the next is written.
/// Layer: framework (pml).
///
/// The first part has the envelope and is matched; the others follow it with nothing between that is kept in
/// order, so a peer has at most one such message under way each way. One that finds no posted receive is put
/// together here, and has arrived when its last part has. See docs/design/pml.md, "In parts".
/// Threads:   the pml's.
/// Ownership: a message that is being put together is the matcher's memory, and this one's to release.
/// Ordering:  as the endpoint's; a send that has begun stays at the head of its peer's FIFO.
/// Errors:    what a peer gets wrong is dropped, and noted once per peer.
/// Units:     bytes.

#include <cstdint>
#include <span>

#include "frameworks/pml/eager.hpp"
#include "frameworks/pml/matcher.hpp"
#include "frameworks/pml/peer.hpp"
#include "frameworks/pml/placer.hpp"

namespace starling::pml {

class Parts {
 public:
  Parts(PeerTable& peers, Matcher& matcher, Eager& eager, Placer& placer, Notes& notes) noexcept
      : peers_(peers), matcher_(matcher), eager_(eager), placer_(placer), notes_(notes) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts();

  /// Begins or goes on with a send that the credit covers. again: the transport is full; the send keeps its
  /// place, and this is called once more.
  [[nodiscard]] static Post send(Request& request) noexcept;

  void on_first(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_rest(Peer& peer, std::span<const std::byte> message) noexcept;
  /// Ends the receive that has matched a message whose rest will not come.
  void lose(Peer& peer) noexcept;

 private:
  void begin(Peer& peer, const wire::Parted& header) noexcept;
  void take(Peer& peer, const std::byte* payload, std::size_t bytes) noexcept;
  void arrived(Peer& peer, ContextId id, Message& message) noexcept;

  PeerTable& peers_;
  Matcher& matcher_;
  Eager& eager_;
  Placer& placer_;
  Notes& notes_;
};

}  // namespace starling::pml
