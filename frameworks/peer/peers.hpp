// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Whom this process talks to: transports, peers, ports, and what drives them. Layer: framework
/// interface.
///
/// The runtime makes it first. A front registers (the pml), then the btls are made with sink(), then they are
/// added; other ports register when they want to. See docs/design/peers.md.
/// Threads:   driven by one thread at a time (the runtime's lock under MPI_THREAD_MULTIPLE).
/// Ownership: peers are the table's, and go with the front; transports, ports and address book are borrowed.
/// Ordering:  messages of a kind whose order is kept, sent by send() or by the front, arrive in that order.
/// Errors:    an unreachable peer is logged once with every transport's reason; a lost one is told to each
///            port once. What a peer sends and nobody understands is dropped, and noted once per peer.
/// Re-entry:  a transport never delivers while it is being called (btl.hpp), but may report a loss: that only
///            closes the peer's fast path, and progress() does the rest.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "core/proc_list.hpp"
#include "core/result.hpp"
#include "frameworks/btl/address.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/peer/notes.hpp"
#include "frameworks/peer/outbox.hpp"
#include "frameworks/peer/peer.hpp"
#include "frameworks/peer/port.hpp"
#include "frameworks/peer/table.hpp"

namespace starling::peer {

class Peers {
 public:
  Peers() noexcept : table_(ports_), outbox_(table_, notes_) {}
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // Ports
  /// Before anything else; there is one front at a time.
  [[nodiscard]] Result<void> set_front(Front& front, std::span<const KindFacts> kinds,
                                       const PathChoice& paths);
  /// The front leaves, and all peers go: the transports must not deliver any more.
  void remove_front() noexcept;
  [[nodiscard]] Result<void> add(Port& port, std::span<const KindFacts> kinds);
  void remove(const Port& port) noexcept { ports_.remove(port); }
  [[nodiscard]] bool has(const Port& port) const noexcept { return ports_.has(port); }
  /// What the btls deliver to. There is a front.
  [[nodiscard]] btl::Sink& sink() noexcept { return *front_; }
  /// From the front: what is of none of its kinds, to whomever its kind belongs.
  void deliver(btl::Origin& from, std::span<const std::byte> message) noexcept;
  /// From the front: the peer of a first message; it is the origin's cookie from now on.
  [[nodiscard]] Peer& adopt(btl::Origin& from);
  /// From the front, see btl::Sink.
  void on_peer_lost(ProcId proc, const Error& why) noexcept;
  /// The payload of a message that was sent by send(). Nothing, and a note: it is shorter than it says.
  [[nodiscard]] std::optional<std::span<const std::byte>> payload(
      Peer& from, std::span<const std::byte> message) noexcept;

  // Transports
  /// Starts to use it; the best is added first. Called when a network transport is added later, too.
  void add_transport(btl::Component& transport);
  /// Where addresses come from; set before the first send to a peer whose transport does not compute them.
  void set_address_book(btl::AddressBook* book) noexcept { table_.set_address_book(book); }
  /// Makes peers now (jobs below mpi_add_procs_cutoff): connects to every process of the list.
  [[nodiscard]] Result<void> connect(const ProcList& procs);

  /// A message to the port of that kind, in order with everything else sent to the process; kept while the
  /// transport is full. At most 512 bytes; up to 48 KiB where the transports that reach the peer take it with
  /// 64 bytes more (btl::Limits::message_max_bytes).
  [[nodiscard]] Result<void> send(ProcId to, std::uint8_t kind, std::span<const std::byte> payload);

  /// Polls all transports, and sends what waits. Returns the number of events.
  int progress() noexcept;
  /// False if something waits that nobody will ring for (room in a queue without a bell, a get between two
  /// chunks): the caller must not sleep then, only yield and progress again. Otherwise whatever waits has
  /// asked for a wake-up, which is good for the sleep that follows at once.
  [[nodiscard]] bool may_sleep() noexcept;
  /// True if nothing is still on its way out (finalize waits for it).
  [[nodiscard]] bool drained() const noexcept;
  /// This process leaves MPI in order (idle), once drained, or is back: its peers are told. Bounded in time.
  void set_idle(bool idle) noexcept;
  /// The front wants look() to be called, or no more.
  void set_restless(bool restless) noexcept { restless_ = restless; }

  // Losses
  /// One of these processes that a transport has reported as lost, not as left in order. Cheap.
  [[nodiscard]] std::optional<ProcId> dead_among(const ProcList& members) const noexcept;
  [[nodiscard]] bool any_gone() const noexcept { return !gone_.empty(); }
  /// Calls visit(const Peer&) for each that is lost and has been dealt with.
  template <class Visit>
  void each_gone(Visit visit) const {
    for (const Peer* peer = gone_.top(); peer != nullptr; peer = LostPeers::after(*peer)) visit(*peer);
  }

  struct Counters {
    std::uint64_t peers = 0;
    std::vector<std::string> notes;  ///< for the report
  };
  [[nodiscard]] Counters counters() const;

  [[nodiscard]] Table& table() noexcept { return table_; }
  [[nodiscard]] const Table& table() const noexcept { return table_; }
  [[nodiscard]] Outbox& outbox() noexcept { return outbox_; }
  [[nodiscard]] Notes& notes() noexcept { return notes_; }

 private:
  void on_numbered(btl::Origin& from, Peer& peer, std::span<const std::byte> message) noexcept;
  void on_passed(Peer& peer, std::span<const std::byte> message) noexcept;
  void lose(Peer& peer) noexcept;
  void await_contact(Peer& peer) noexcept;
  [[gnu::noinline]] int push() noexcept;
  [[gnu::noinline]] int poll_rare() noexcept;

  /// A transport whose looks cost too much for every pass.
  struct Rare {
    btl::Component* transport;
    std::uint32_t passes_left = 1;  ///< until the next look
    std::uint32_t lively = 0;       ///< looks that still follow each other without a pause
  };

  Ports ports_;
  Table table_;
  Notes notes_;
  Outbox outbox_;
  std::vector<Rare> rare_;
  Front* front_ = nullptr;
  bool restless_ = false;
  LostPeers gone_;               // and dealt with
  std::uint64_t held_back_ = 0;  // messages that had overtaken others on another path, and waited for them
};

}  // namespace starling::peer
