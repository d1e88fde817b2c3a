// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What all pmls share, put together. Layer: framework (pml).
///
/// A pml plugin is this engine with a Chooser and protocols of its own. The folder is a static library that
/// each pml links in, with hidden visibility: a message crosses the two virtual calls of the interfaces and
/// nothing else. The engine itself is the front of the peers (frameworks/peer): it takes calls, tells its
/// messages apart and ends what a lost peer was to do. The rest is done by: Matcher (who gets which message),
/// Eager (messages that go at once, and their credit), Sends and Holders (what has to wait), Rendezvous with
/// its protocols (messages that are announced).
/// Threads:   one at a time drives it; only Request::complete is read by others.
/// Ownership: see pml.hpp. A request is not touched any more once `complete` has been stored.
/// Ordering:  user messages and those of other ports leave to one peer in posting order; answers may overtake
///            them.
/// Errors:    per request; malformed messages are dropped, and noted once per peer.
/// Units:     bytes.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frameworks/peer/peers.hpp"
#include "frameworks/pml/eager.hpp"
#include "frameworks/pml/early.hpp"
#include "frameworks/pml/grants.hpp"
#include "frameworks/pml/holders.hpp"
#include "frameworks/pml/matcher.hpp"
#include "frameworks/pml/parts.hpp"
#include "frameworks/pml/peer.hpp"
#include "frameworks/pml/placer.hpp"
#include "frameworks/pml/pml.hpp"
#include "frameworks/pml/rendezvous.hpp"
#include "frameworks/pml/sends.hpp"
#include "frameworks/pml/transfer.hpp"

namespace starling::pml {

struct Config {
  ProcId self;
  std::uint32_t world_size = 1;
  std::uint64_t eager_limit = 0;                    ///< 0: each transport's own
  std::uint64_t unexpected_max = 64 * 1024 * 1024;  ///< aim for all peers together
  std::uint64_t get_chunk_bytes = 4 * 1024 * 1024;  ///< per get and progress call
  std::uint32_t fragments_per_push = 16;            ///< per peer and progress call
  std::uint32_t loans = 0;                          ///< peers at most that pages are lent to
  std::uint32_t paths_max = 1;                      ///< networks that one peer is reached by
  peer::PathUse path_use = peer::PathUse::spill;
  std::uint32_t announced_max = 0;  ///< 0: what takes as much memory as the eager credit
  EarlyPush early_push = EarlyPush::off;
};

/// Ring, get and lend, as their numbers say (Large).
[[nodiscard]] Protocols standard_protocols(const Config& config);

/// Eager credit of one pair. All processes of a job come to the same value.
[[nodiscard]] std::int64_t credit_window(const Config& config) noexcept;
/// Messages that a process announces to another one before any of them has been matched.
[[nodiscard]] std::uint32_t announced_max(const Config& config) noexcept;

/// What the engine and its protocols send, for the peers.
[[nodiscard]] std::vector<peer::KindFacts> kinds_of(const Rendezvous& rendezvous);

class Engine final : public Component, private peer::Front {
 public:
  /// An engine with the standard protocols.
  Engine(peer::Peers& peers, const Config& config, std::unique_ptr<Chooser> chooser)
      : Engine(peers, config, std::move(chooser), standard_protocols(config)) {}
  /// `protocols` have passed Rendezvous::check. The peers outlive the engine, and have no other front.
  Engine(peer::Peers& peers, const Config& config, std::unique_ptr<Chooser> chooser, Protocols protocols);
  ~Engine() override = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] Result<Context*> open(ContextIds ids, Rank my_rank, ProcListPtr ranks) override;
  void close(Context* context) noexcept override;

  void isend(Request& request) noexcept override;
  Post try_send(Context& context, Rank rank, Tag tag, const void* data, std::size_t bytes) noexcept override;
  Post try_isend(Context& context, Rank rank, Tag tag, const void* data, std::size_t bytes) noexcept override;
  void irecv(Request& request) noexcept override;

  [[nodiscard]] bool probe(Context& context, Rank source, Tag tag, Status* status) noexcept override;
  [[nodiscard]] Message* mprobe(Context& context, Rank source, Tag tag, Status* status) noexcept override;
  void mrecv(Message* message, Request& request) noexcept override;
  [[nodiscard]] Fault lost(const Context& context, Rank source) const noexcept override;
  [[nodiscard]] bool hopeless(const Request& request) const noexcept override;
  void give_up(Request& request) noexcept override;
  void cancel(Request& request) noexcept override;

  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] std::vector<PeerTraffic> traffic() const override;
  [[nodiscard]] std::vector<Pending> pending() const override;
  void note_time(std::uint64_t now_ns) noexcept override;

  /// The pool of unexpected messages: it knows the bytes that they hold from the system now, and held at
  /// most.
  [[nodiscard]] const MessagePool& pool() const noexcept { return matcher_.pool(); }

 private:
  // engine_hot.cpp: what an eager message passes through
  void on_message(btl::Origin& from, std::span<const std::byte> message) noexcept override;
  void match_kept(Request& request, Message& message) noexcept;
  [[gnu::noinline]] void isend_slowly(Request& request) noexcept;
  [[gnu::noinline]] void post_apart(Request& request) noexcept;

  // engine_messages.cpp: all other messages, and what is to be done with what has matched
  void on_other_kind(btl::Origin& from, std::span<const std::byte> message) noexcept;
  void receive(peer::Peer&, std::span<const std::byte>) noexcept override {}  // see peer::Front
  void on_arrival(Peer& peer, ContextId id, const Arrival& arrival) noexcept;
  void match(Request& request, Peer& peer, const Arrival& arrival, bool kept) noexcept;
  void refuse(Peer& peer, const Arrival& arrival) noexcept;
  void on_eager_sync(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_rts(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_cancel(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_pushed(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_line(Peer& peer, std::span<const std::byte> message) noexcept;

  // engine_front.cpp: what the peers ask of their front
  [[nodiscard]] std::string_view name() const noexcept override { return "pml"; }
  [[nodiscard]] std::unique_ptr<peer::Peer> make_peer(ProcId proc) override;
  void on_connected(peer::Peer& peer) noexcept override;
  void set_parts(Peer& peer, const btl::Limits& limits) noexcept;
  void on_no_contact(peer::Peer& peer) noexcept override;
  void send(peer::Peer& peer, std::uint8_t kind, std::span<const std::byte> payload) override;
  [[nodiscard]] int decide(peer::Peer& peer) noexcept override;
  [[nodiscard]] int push(peer::Peer& peer) noexcept override;
  [[nodiscard]] int push_data(peer::Peer& peer) noexcept override;
  [[nodiscard]] bool waiting(const peer::Peer& peer) const noexcept override;
  [[nodiscard]] bool needs_passes(const peer::Peer& peer) const noexcept override;
  [[nodiscard]] int look() noexcept override;
  [[nodiscard]] bool drained() const noexcept override;
  void on_peer_lost(ProcId proc, const Error& why) noexcept override { all_.on_peer_lost(proc, why); }

  // engine_loss.cpp
  void lose(peer::Peer& peer) noexcept override;
  void lose(Context& context, const Peer& peer) noexcept;
  [[nodiscard]] Fault end_of_others(const Context& context) const noexcept;
  void withdraw(Request& request) noexcept;
  void lose_what_came_later() noexcept;

  // engine_report.cpp
  template <class Visit>
  void each_pending(Visit visit) const;

  bool announced(ProcId to, const btl::RemoteBuffer& what, std::size_t bytes) noexcept override {
    return rendezvous_.announced(to, what, bytes);
  }

  /// Declared before the members that keep pointers to peers, so that the peers are destroyed after them.
  struct Registration {
    peer::Peers& peers;
    ~Registration() { peers.remove_front(); }
  };

  peer::Peers& all_;
  Registration registration_;
  PeerTable peers_;
  Notes& notes_;
  Outbox& outbox_;
  TransferTable transfers_;
  Matcher matcher_;
  Eager eager_;
  Placer placer_;
  Parts parts_;
  Rendezvous rendezvous_;
  Grants grants_;
  Early early_;
  Sends sends_;
  Holders holders_;
  ProcId self_;
  std::uint64_t eager_limit_;
  std::int64_t window_;
};

}  // namespace starling::pml
