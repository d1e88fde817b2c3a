// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Peers that have said that they hold messages back, and when they are asked for more. Layer:
/// framework (pml).
///
/// A receiver may want the last of a peer's messages first, so whoever waits for one asks on. See
/// docs/design/pml.md, "Bounded memory".
/// Threads: the pml's. Ownership: peers are the table's. Ordering: none. Errors: without memory for a note
///          the peer is asked at once.

#include <span>
#include <vector>

#include "frameworks/pml/matcher.hpp"
#include "frameworks/pml/peer.hpp"

namespace starling::pml {

class Holders {
 public:
  Holders(Matcher& matcher, Outbox& outbox) noexcept : matcher_(matcher), outbox_(outbox) {}

  /// A peer holds messages of a context back.
  void on_held(Peer& peer, const wire::Envelope& header) noexcept;
  [[nodiscard]] bool any() const noexcept { return !holders_.empty(); }
  /// Asks those of whom something here waits for a message. Returns events.
  [[nodiscard]] int ask() noexcept;
  /// A probe has found nothing.
  [[gnu::noinline]] void probed_in_vain(const Context& context, Rank source) noexcept;
  void forget(const Peer& peer) noexcept;

 private:
  struct Holder {
    Peer* peer;
    ContextId context;
    Rank rank;
  };
  [[nodiscard]] bool wanted(const Holder& holder) noexcept;
  void ask(const Holder& holder) noexcept;
  template <class Asked>
  int ask_those(Asked asked) noexcept;

  Matcher& matcher_;
  Outbox& outbox_;
  std::vector<Holder> holders_;
};

}  // namespace starling::pml
