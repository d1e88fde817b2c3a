// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Matching and protocols: everything that the pmls share. Layer: framework (pml).
///
/// A pml plugin is this engine with its own LargePolicy. The folder is a static library that each pml links
/// in, with hidden visibility: a message crosses the two virtual calls of the interfaces and nothing else.
/// Threads:   one at a time drives it; only Request::complete is read by others.
/// Ownership: see pml.hpp. A request is not touched any more once `complete` has been stored.
/// Ordering:  user and control messages to one peer leave in posting order; answers may overtake them.
/// Errors:    per request; malformed messages are dropped, and noted once per peer.
/// Re-entry:  a transport may deliver within send() (self does). So state is brought up to date before each
///            send, and a request is not touched after a send that may have completed it.
/// Units:     bytes.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frameworks/pml/context_table.hpp"
#include "frameworks/pml/matching.hpp"
#include "frameworks/pml/message_pool.hpp"
#include "frameworks/pml/pml.hpp"
#include "frameworks/pml/transfers.hpp"
#include "frameworks/pml/wireup.hpp"

namespace starling::pml {

/// A large receive whose both sides are contiguous, as it matches.
struct LargeReceive {
  const Peer& peer;
  std::uint64_t bytes;
  bool both;     ///< this process has a long send to the peer under way; `lend` counts only then
  bool can_get;  ///< `get` counts only then
};

/// How to do it, and whether to tell LargePolicy::took() how long it took: 0: no.
struct LargeChoice {
  Large way;
  std::uint32_t trial = 0;
};

/// What makes one pml differ from another.
class LargePolicy {
 public:
  virtual ~LargePolicy() = default;
  /// `lend` is taken only if the peer does; where it does not yet, the way for one direction is.
  [[nodiscard]] virtual LargeChoice choose(const LargeReceive& receive) noexcept = 0;
  /// A receive of a trial has got its data in this time; where others of the peer were under way before it,
  /// from the end of the last one of these.
  virtual void took(std::uint32_t trial, std::uint64_t bytes, std::uint64_t ns) noexcept = 0;
  /// Whether data may be got from this peer, if its endpoint can.
  [[nodiscard]] virtual bool gets(const Peer& peer) const noexcept = 0;
  /// Whether pages may be lent to this peer and borrowed from it: a process of the node that trusts us.
  [[nodiscard]] virtual bool lends(const Peer& peer) const noexcept = 0;
  /// What was measured or decided, for the report.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

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

/// Eager credit of one pair. All processes of a job compute the same.
[[nodiscard]] std::int64_t credit_window(const Config& config) noexcept;
/// Messages that a process announces to another one before any of them has been matched.
[[nodiscard]] std::uint32_t announced_max(const Config& config) noexcept;

class Engine final : public Component, private btl::Sink {
 public:
  Engine(const Config& config, std::unique_ptr<LargePolicy> policy);
  ~Engine() override;
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
  [[nodiscard]] const MessagePool& pool() const noexcept { return pool_; }

 private:
  struct Get;
  struct ControlSend;
  /// A peer that has said that it holds messages of this context back.
  struct Holder {
    Peer* peer;
    ContextId context;
    Rank rank;
  };
  /// A message that has arrived, as far as it is known before it has been matched.
  struct Arrival {
    wire::Envelope envelope;
    std::uint64_t length = 0;
    std::uint64_t sender_id = 0;
    Offered memory;
    const std::byte* payload = nullptr;
  };

  // engine_hot.cpp: what an eager message passes through
  void on_message(btl::Origin& from, std::span<const std::byte> message) noexcept override;
  void on_peer_lost(ProcId proc, const Error& why) noexcept override;
  bool announced(ProcId to, const btl::RemoteBuffer& what, std::size_t bytes) noexcept override;
  void deliver(Request& request, Rank source, Tag tag, const std::byte* payload, std::size_t bytes) noexcept;
  void consumed(Peer& peer, std::size_t payload_bytes) noexcept {
    peer.owed += cost_of(payload_bytes);
    if (peer.owed >= peer.return_at) [[unlikely]]
      return_credit(peer);
  }

  // engine_send.cpp
  void isend_slowly(Request& request) noexcept;
  [[nodiscard]] bool start(Request& request) noexcept;
  [[nodiscard]] bool start_eager(Request& request, std::int64_t cost) noexcept;
  [[nodiscard]] bool start_rts(Request& request, bool stalled) noexcept;
  [[nodiscard]] bool start_control(Request& request) noexcept;
  void finish_send(Request& request, Fault fault, bool cancelled = false) noexcept;
  [[nodiscard]] static wire::Envelope envelope(const Request& request, wire::Kind kind) noexcept;
  [[nodiscard]] static Post put(btl::Endpoint& endpoint, std::span<const std::byte> header,
                                const Buffer& buffer, std::uint64_t offset, std::size_t bytes) noexcept;
  void enqueue(Peer& peer, Request& request) noexcept;
  void cancel_send(Request& request) noexcept;

  // engine_held.cpp
  void hold_back(Request& request);
  void not_announced_any_more(Request& request) noexcept;
  [[nodiscard]] static bool goes_eagerly(const Peer& peer, const Request& request) noexcept {
    return request.total <= peer.eager_bytes &&
           peer.credit >= cost_of(static_cast<std::size_t>(request.total));
  }
  [[nodiscard]] bool may_go(const Peer& peer, const HeldBack::Line& line) const noexcept;
  [[nodiscard]] int push_held(Peer& peer) noexcept;
  void on_held(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_go_on(Peer& peer, std::span<const std::byte> message) noexcept;
  [[nodiscard]] bool wanted(const Holder& holder) noexcept;
  template <class Asked>
  int ask_on(Asked asked) noexcept;
  [[nodiscard]] int ask_for_more() noexcept;
  [[gnu::noinline]] void probed_in_vain(const Context& context, Rank source) noexcept;
  void cancel_held(const Context& context, Rank rank) noexcept;
  void drop_held(Peer& peer, Fault fault) noexcept;

  // engine_receive.cpp
  Source& touch(Context& context, Rank rank);
  void on_arrival(Peer& peer, const Arrival& arrival) noexcept;
  [[nodiscard]] Source* source_of(Peer& peer, Context& context, const wire::Envelope& envelope) noexcept;
  void keep(Peer& peer, Context* context, Source* source, const Arrival& arrival) noexcept;
  void match(Request& request, Peer& peer, const Arrival& arrival) noexcept;
  void match_kept(Request& request, Message& message) noexcept;
  void refuse(Peer& peer, wire::Kind kind, std::uint64_t length, std::uint64_t sender_id) noexcept;
  void release(Message& message) noexcept;
  void begin_rendezvous(Request& request, Peer& peer, const Arrival& arrival, bool kept) noexcept;
  void ask_for_data(Request& request, std::uint8_t flags = 0) noexcept;
  void finish_receive(Request& request, Fault fault, bool cancelled = false) noexcept;
  void cancel_receive(Request& request) noexcept;

  // engine_answers.cpp: the protocols' messages
  void on_other(btl::Origin& from, std::span<const std::byte> message) noexcept;
  Peer& adopt(btl::Origin& from);
  void on_rts(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_eager_sync(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_cts(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_data(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_data_at(Peer& peer, std::span<const std::byte> message) noexcept;
  void take_data(Peer& peer, Request& request, std::uint64_t offset,
                 std::span<const std::byte> payload) noexcept;
  void on_numbered(btl::Origin& from, Peer& peer, std::span<const std::byte> message) noexcept;
  void on_passed(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_answer(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_cancel(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_control(Peer& peer, std::span<const std::byte> message) noexcept;
  [[nodiscard]] Request* transfer(Peer& peer, std::uint64_t id) const noexcept;
  void malformed(Peer& peer, const char* what) noexcept;
  void answer(Peer& peer, std::span<const std::byte> message) noexcept;
  void answer(Peer& peer, wire::Kind kind, std::uint64_t sender_id, std::uint8_t flags = 0) noexcept;
  [[gnu::noinline]] void return_credit(Peer& peer) noexcept;

  // engine_loans.cpp
  void offer_loan(Peer& peer) noexcept;
  void on_lender(Peer& peer, std::span<const std::byte> message) noexcept;
  [[nodiscard]] bool can_get(const Peer& peer, const Request& request) const noexcept;
  [[nodiscard]] LargeChoice way_of(Peer& peer, const Request& request) noexcept;
  [[nodiscard]] bool may_turn_out_both(const Peer& peer, const Request& request) const noexcept;
  void begin_transfer(Request& request, Peer& peer) noexcept;
  void end_trial(Request& request) noexcept;
  [[nodiscard]] int decide(Peer& peer) noexcept;
  [[nodiscard]] bool push_loan(Peer& peer, Request& request) noexcept;
  void on_lent(Peer& peer, std::span<const std::byte> message) noexcept;
  void on_taken(Peer& peer, std::size_t bytes) noexcept;

  // engine_report.cpp
  template <class Visit>
  void each_pending(Visit visit) const;

  // engine_push.cpp
  void mark_busy(Peer& peer) noexcept;
  [[nodiscard]] int push() noexcept;
  [[nodiscard]] int push_answers(Peer& peer) noexcept;
  [[nodiscard]] int push_fifo(Peer& peer) noexcept;
  [[nodiscard]] int push_data(Peer& peer) noexcept;
  [[nodiscard]] Post put_data(Peer& peer, const Request& request, std::size_t bytes) noexcept;
  [[nodiscard]] int step_gets() noexcept;
  [[nodiscard]] bool step_get(Get& get, int& events) noexcept;
  [[nodiscard]] bool await_contact(Peer& peer) noexcept;
  void drop_sends(Peer& peer, Fault fault) noexcept;
  void lose(Peer& peer) noexcept;
  void lose(Context& context, const Peer& peer) noexcept;
  [[nodiscard]] bool nobody_left(const Context& context) const noexcept;
  void look_for_hopeless() noexcept;

  /// A transport whose looks cost too much for every pass.
  struct Rare {
    btl::Component* transport;
    std::uint32_t passes_left = 1;  ///< until the next look
    std::uint32_t lively = 0;       ///< looks that still follow each other without a pause
  };
  [[gnu::noinline]] int poll_rare() noexcept;

  PeerTable peers_;
  std::vector<Rare> rare_;
  ContextTable contexts_;

  Peer* busy_ = nullptr;                    // peers with something to push
  std::vector<std::unique_ptr<Get>> gets_;  // in the order of their matching
  std::uint32_t get_pass_ = 0;              // of step_gets()
  std::vector<Peer*> lost_;                 // reported, not dealt with yet
  std::vector<Peer*> gone_;                 // dealt with
  std::vector<Holder> holders_;

  Config config_;
  std::unique_ptr<LargePolicy> policy_;
  ControlSink* control_ = nullptr;
  Transfers transfers_;
  MessagePool pool_;
  MessageChain taken_;  // by mprobe, not received yet
  Counters counters_;
  std::uint64_t held_back_ = 0;  // messages that had overtaken others on another path, and waited for them
  std::uint32_t announced_max_;
  std::size_t held_now_ = 0;  // sends that wait for the receiver to match earlier ones
  std::uint64_t held_ever_ = 0;
};

namespace detail {

/// Where a request is (Request::phase).
enum Phase : std::uint32_t {
  kIdle = 0,
  kQueued = 1,     // a send in its peer's FIFO
  kAnnounced = 2,  // a send whose RTS or synchronous message is out
  kPushing = 3,    // a send whose data are on their way
  kControl = 4,    // a control message of ours in a FIFO
  kPosted = 5,     // a receive that has not matched
  kReceiving = 6,  // a receive whose data are being pushed to it
  kGetting = 7,    // a receive that gets its data
  kHeld = 8,       // a send that the receiver has no room to hear of
  kUndecided = 9   // a receive that has matched, whose way progress() chooses
};

/// Request::flags
inline constexpr std::uint32_t kTruncated = 1;
inline constexpr std::uint32_t kCancelAsked = 2;
inline constexpr std::uint32_t kStallCounted = 4;
inline constexpr std::uint32_t kReleased = 8;  // was held back: goes before what is held now
inline constexpr std::uint32_t kCounted = 16;  // in Peer::announced
inline constexpr std::uint32_t kLong = 32;     // in Peer::long_sends
inline constexpr std::uint32_t kLending = 64;  // a send whose pages are lent

/// Why nothing can be sent to a peer without contact.
[[nodiscard]] inline Fault fault_of(const Peer& peer) noexcept {
  return peer.state == PeerState::lost ? peer.fault : Fault::unreachable;
}

/// Tells the waiter; the request is the caller's again.
inline void publish(Request& request) noexcept { request.complete.store(true, std::memory_order_release); }

}  // namespace detail

/// A receive that copies from its sender's memory. Lives until the transport has answered.
struct Engine::Get : btl::Completion {
  Get() { done = &Get::on_done; }
  static void on_done(btl::Completion* self, bool went_well) noexcept {
    auto* const get = static_cast<Get*>(self);
    get->ended = true;
    get->ok = went_well;
  }
  Request* request = nullptr;
  std::size_t asked = 0;
  bool in_flight = false;
  bool ended = false;
  bool ok = false;
};

/// A control message that waits in a FIFO.
struct Engine::ControlSend : Request {
  std::vector<std::byte> bytes;
};

}  // namespace starling::pml
