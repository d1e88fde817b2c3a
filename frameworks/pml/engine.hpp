// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What all pmls share, put together. Layer: framework (pml).
///
/// A pml plugin is this engine with a Chooser and protocols of its own. The folder is a static library that
/// each pml links in, with hidden visibility: a message crosses the two virtual calls of the interfaces and
/// nothing else. The engine itself takes calls, tells messages apart and deals with lost peers. The rest is
/// done by: Matcher (who gets which message), Eager (messages that go at once, and their credit), Sends and
/// Holders (what has to wait), Rendezvous with its protocols (messages that are announced), Outbox (answers).
/// Threads:   one at a time drives it; only Request::complete is read by others.
/// Ownership: see pml.hpp. A request is not touched any more once `complete` has been stored.
/// Ordering:  user and control messages to one peer leave in posting order; answers may overtake them.
/// Errors:    per request; malformed messages are dropped, and noted once per peer.
/// Re-entry:  a transport never delivers while it is being called (btl.hpp), but may report a loss: that only
///            closes the peer's fast path, and progress() does the rest.
/// Units:     bytes.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frameworks/pml/eager.hpp"
#include "frameworks/pml/holders.hpp"
#include "frameworks/pml/matcher.hpp"
#include "frameworks/pml/outbox.hpp"
#include "frameworks/pml/pml.hpp"
#include "frameworks/pml/rendezvous.hpp"
#include "frameworks/pml/sends.hpp"
#include "frameworks/pml/transfer.hpp"
#include "frameworks/pml/wireup.hpp"

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
  PathUse path_use = PathUse::spill;
  std::uint32_t announced_max = 0;  ///< 0: what takes as much memory as the eager credit
};

/// Ring, get and lend, as their numbers say (Large).
[[nodiscard]] Protocols standard_protocols(const Config& config);

/// Eager credit of one pair. All processes of a job compute the same.
[[nodiscard]] std::int64_t credit_window(const Config& config) noexcept;
/// Messages that a process announces to another one before any of them has been matched.
[[nodiscard]] std::uint32_t announced_max(const Config& config) noexcept;

class Engine final : public Component, private btl::Sink {
 public:
  /// With the standard protocols.
  Engine(const Config& config, std::unique_ptr<Chooser> chooser)
      : Engine(config, std::move(chooser), standard_protocols(config)) {}
  /// The protocols are sound (Rendezvous::check).
  Engine(const Config& config, std::unique_ptr<Chooser> chooser, Protocols protocols);
  ~Engine() override = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] btl::Sink& sink() noexcept override { return *this; }
  void add_transport(btl::Component& transport) override;
  void set_address_book(btl::AddressBook* book) noexcept override { peers_.set_address_book(book); }
  void set_control_sink(ControlSink* sink) noexcept override { control_ = sink; }

  [[nodiscard]] Result<Context*> open(ContextId id, Rank my_rank, ProcListPtr ranks) override;
  void close(Context* context) noexcept override;
  [[nodiscard]] Result<void> add_procs(const ProcList& procs) override;

  void isend(Request& request) noexcept override;
  Post try_send(Context& context, Rank rank, Tag tag, const void* data, std::size_t bytes) noexcept override;
  void irecv(Request& request) noexcept override;

  [[nodiscard]] bool probe(Context& context, Rank source, Tag tag, Status* status) noexcept override;
  [[nodiscard]] Message* mprobe(Context& context, Rank source, Tag tag, Status* status) noexcept override;
  void mrecv(Message* message, Request& request) noexcept override;
  [[nodiscard]] bool lost(const Context& context, Rank source) const noexcept override;
  [[nodiscard]] std::optional<ProcId> dead_among(const ProcList& members) const noexcept override;
  void cancel(Request& request) noexcept override;
  [[nodiscard]] Result<void> send_control(ProcId to, std::span<const std::byte> message) override;

  int progress() noexcept override;
  [[nodiscard]] bool may_sleep() noexcept override;
  [[nodiscard]] bool drained() const noexcept override;
  void set_idle(bool idle) noexcept override;
  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] std::vector<PeerTraffic> traffic() const override;
  [[nodiscard]] std::vector<Pending> pending() const override;
  void note_time(std::uint64_t now_ns) noexcept override;

  /// Bytes that unexpected messages hold from the system, and held at most.
  [[nodiscard]] const MessagePool& pool() const noexcept { return matcher_.pool(); }

 private:
  // engine_hot.cpp: what an eager message passes through
  void on_message(btl::Origin& from, std::span<const std::byte> message) noexcept override;
  void match_kept(Request& request, Message& message) noexcept;
  [[gnu::noinline]] void isend_slowly(Request& request) noexcept;

  // engine_messages.cpp: all other messages, and what is to be done with what has matched
  void on_other(btl::Origin& from, std::span<const std::byte> message) noexcept;
  [[nodiscard]] Peer& adopt(btl::Origin& from);
  void on_arrival(Peer& peer, ContextId id, const Arrival& arrival) noexcept;
  void match(Request& request, Peer& peer, const Arrival& arrival, bool kept) noexcept;
  void refuse(Peer& peer, const Arrival& arrival) noexcept;
  void on_eager_sync(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_rts(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_numbered(btl::Origin& from, Peer& peer, std::span<const std::byte> message) noexcept;
  void on_passed(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_control(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_cancel(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_line(Peer& peer, std::span<const std::byte> message) noexcept;

  // engine.cpp: the calls that are not hot, and progress
  [[nodiscard]] int push() noexcept;
  void await_contact(Peer& peer) noexcept;
  [[gnu::noinline]] int poll_rare() noexcept;

  // engine_loss.cpp
  void on_peer_lost(ProcId proc, const Error& why) noexcept override;
  void lose(Peer& peer) noexcept;
  void lose(Context& context, const Peer& peer) noexcept;
  [[nodiscard]] bool nobody_left(const Context& context) const noexcept;
  void look_for_hopeless() noexcept;

  // engine_report.cpp
  template <class Visit>
  void each_pending(Visit visit) const;

  bool announced(ProcId to, const btl::RemoteBuffer& what, std::size_t bytes) noexcept override {
    return rendezvous_.announced(to, what, bytes);
  }

  /// A transport whose looks cost too much for every pass.
  struct Rare {
    btl::Component* transport;
    std::uint32_t passes_left = 1;  ///< until the next look
    std::uint32_t lively = 0;       ///< looks that still follow each other without a pause
  };

  PeerTable peers_;
  std::vector<Rare> rare_;
  Notes notes_;
  TransferTable transfers_;
  Outbox outbox_;
  Matcher matcher_;
  Eager eager_;
  Rendezvous rendezvous_;
  Sends sends_;
  Holders holders_;
  Peer* gone_ = nullptr;  // lost, and dealt with
  ProcId self_;
  ControlSink* control_ = nullptr;
  std::uint64_t held_back_ = 0;  // messages that had overtaken others on another path, and waited for them
};

}  // namespace starling::pml
