// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Byte transport between two processes. Layer: framework interface.
///
/// Threads:   a Component and its endpoints are driven by one thread at a time.
/// Ownership: endpoints belong to their Component; spans are borrowed until the call returns.
/// Ordering:  per endpoint, messages arrive in posting order; nothing is promised across endpoints.
/// Re-entry:  messages are delivered by Component::progress() and by nothing else, also those to oneself:
///            never while a call of an endpoint is under way. A loss may be reported by any call. The sink
///            may call endpoints while it is being called.
/// Errors:    hot calls return Post and never throw; set-up returns Result; a lost peer is reported once,
///            through the sink.
/// Units:     bytes and nanoseconds, also in the name where the type does not say it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/held_bytes.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"
#include "frameworks/btl/address.hpp"
#include "frameworks/btl/capabilities.hpp"
#include "frameworks/btl/loans.hpp"
#include "frameworks/btl/remote.hpp"
#include "frameworks/btl/writes.hpp"
#include "params/registry.hpp"

namespace starling::shm {
class NodeSegment;   // frameworks/shm/node_segment.hpp; null where there is none
class SharedCopies;  // frameworks/shm/claims/copies.hpp
}  // namespace starling::shm

namespace starling::btl {

/// Which processes a transport reaches. Where several reach a process the nearest is taken, in this order; of
/// two that are as near, the one that the user has listed first, or that has the higher priority.
enum class Reach : std::uint8_t {
  own_process,
  node,    ///< other processes of the node: copies are made by processors, and one kernel serves both sides
  network  ///< other nodes too: a get is the work of a card, or of the peer
};

/// Fixed facts about one transport, copied at creation.
struct Limits {
  std::size_t message_max_bytes = 0;  ///< largest message that send() and reserve() take
  std::size_t eager_bytes = 0;        ///< up to here a message is best sent at once
  std::size_t fragment_bytes = 0;     ///< best size of a piece of a long message, header included
  Capabilities can{};                 ///< besides messages
  Reach reach = Reach::network;
  /// How many idle passes of peer::Peers make one progress() of this transport: 1 where a look costs
  /// nanoseconds, 16 for a network, whose every look costs a system call. For a while after traffic every
  /// pass looks. 0: nothing can come before this process itself has connected; after that as 1.
  std::uint32_t idle_passes = 1;
  /// The access domain of memory that this process announces. 0: the kernel can read it, within a node; else
  /// a number that the plugin chooses. A get is possible only between transports of one access domain.
  std::uint64_t get_access_domain = 0;
  std::size_t get_bytes = 0;  ///< best size of a get; 0: get() copies before it returns, so the pml chooses
  /// The least payload for which Endpoint::send_from() spares a copy; 0: it never does.
  std::size_t send_from_bytes = 0;
  /// The longest payload for which send_from() lets messages of a burst wait for each other, to go as one; 0:
  /// none does.
  std::size_t join_bytes = 0;
  /// Where both processors copy at the same time an eager message is best sent in parts, each as soon as it
  /// has been written: payload of a part (0: it is not), and the longest that goes whole all the same.
  std::size_t part_bytes = 0, parts_above = 0;
  std::size_t parted_bytes = 0;  ///< in parts a message is best sent at once up to here
};

/// What a transport needs from start-up; the startup plan is made from it.
struct Needs {
  AddressSource address = AddressSource::computed;
  /// True: a message may be sent as soon as the peer's address is visible, and waits until the peer looks.
  /// False: sending fails until the peer has been told that others exist.
  bool accepts_before_ready = true;
  bool barrier_before_first_message = false;  ///< a message to a process that is not ready would be lost
  bool barrier_after_last_message = false;    ///< what is on its way is lost when either side closes
  bool lazy_peers = true;                     ///< peers can be added one by one
};

/// Keeps received bytes where they are. It belongs to the transport.
class Keeper {
 public:
  /// Within on_message(): from here on these bytes, of the message that is being delivered, are the caller's
  /// to read and to write until it releases them, once for each call, whatever becomes of the peer. They
  /// outlive the transport. Null: they cannot stay (they are none of that message's, or lie in a ring, or
  /// enough is kept already), so copy.
  [[nodiscard]] virtual HeldBytes* keep(std::span<const std::byte> bytes) noexcept = 0;

 protected:
  ~Keeper() = default;
};

/// Where a message came from. One per incoming stream, owned by the btl; `cookie` belongs to the sink (it
/// keeps its Peer there, so that a message finds its peer without a look-up) and starts as null.
struct Origin {
  ProcId proc;
  void* cookie = nullptr;
  Keeper* keeper = nullptr;  ///< null: nothing of it can be kept
};

/// Memory of another process, as its owner described it in a message.
struct RemoteBuffer {
  std::uint64_t address = 0;
  std::uint64_t key = 0;  ///< the owner's number for the message
};

/// Receives what arrives; implemented by the front (frameworks/peer/port.hpp).
class Sink {
 public:
  /// The bytes are the transport's: they are valid only during the call, which must consume or keep them
  /// (Origin::keeper).
  virtual void on_message(Origin& from, std::span<const std::byte> message) noexcept = 0;
  /// Errc::peer_left: the peer has left MPI in order and ended; peer_lost: it has ended without leaving;
  /// unreachable: it may live, but cannot be reached; no_space: it lives, but there is no memory to send to
  /// it.
  virtual void on_peer_lost(ProcId peer, const Error& why) noexcept = 0;
  /// Whether these bytes lie in a message that waits here for this peer. For transports in which the owner of
  /// the memory serves gets: it must not send anything else.
  virtual bool announced(ProcId, const RemoteBuffer&, std::size_t) noexcept { return false; }

 protected:
  ~Sink() = default;
};

/// Told when what was posted has ended. The object belongs to the caller and lives until `done` has been
/// called.
struct Completion {
  void (*done)(Completion* self, bool ok) noexcept = nullptr;
};

/// How an endpoint's peer takes part in copies that several processes make; no copies: it cannot.
struct CopyWay {
  shm::SharedCopies* copies = nullptr;  ///< the component's; outlives its endpoints
  std::uint32_t peer = 0;               ///< the peer's local rank
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Copies header and payload, message_max_bytes in all at most and perhaps none, to the peer as one
  /// message. done: the caller may reuse both; again: nothing happened. A receiver that makes no progress
  /// brings it to again at some time. What is sent to a peer that is lost comes to nothing, whatever it says.
  virtual Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept = 0;

  /// As send(), but without the copy of the payload, where that pays (Limits::send_from_bytes), or together
  /// with others (Limits::join_bytes). posted: the payload must stay as it is until a progress() calls
  /// `completion`; with ok = false, the peer is lost. Never called within this call. done and again as
  /// send(), and `completion` is not called. To copy it, and say done, is always right.
  /// Without a completion there is no payload: a header in no hurry, since its sender makes progress before
  /// it is through. It may wait for the next progress(), to go with others.
  virtual Post send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                         Completion* completion) noexcept = 0;

  /// Room for one message of up to `bytes`, to be filled in place (datatypes are packed straight into it);
  /// null: again, as send() of as many would say, and never for another reason: not for 0 bytes. It must be
  /// followed by commit() before anything else is asked of this endpoint.
  virtual std::byte* reserve(std::size_t bytes) noexcept = 0;
  /// Sends the first `bytes` of what was reserved, perhaps none. It cannot fail or wait: what does not leave
  /// now is kept until a progress() sends it, before anything else to this peer.
  virtual void commit(std::size_t bytes) noexcept = 0;

  /// After `again`: asks for the wake-up that begin_sleep() describes once there may be room. False: nobody
  /// would ring, so the caller must not sleep until it has got room. Asked again before each sleep.
  [[nodiscard]] virtual bool await_room() noexcept = 0;
  /// Copies remote memory here. done: it has been copied; posted: `completion` will be called, also with ok =
  /// false, perhaps before this returns; again: not now. Only with Capability::get.
  virtual Post get(const RemoteBuffer& from, std::span<std::byte> to, Completion* completion) noexcept = 0;
  /// Whether get() from this buffer works, which is probed the first time (slow), or will work after some
  /// `again`. False without Capability::get.
  [[nodiscard]] virtual bool can_get(const RemoteBuffer& from) noexcept = 0;
  /// How memory is lent to this peer and borrowed from it; null where that is not possible. The endpoint's.
  [[nodiscard]] virtual Loans* loans() noexcept = 0;
  /// How this process writes to memory of the peer's; null where it cannot. The endpoint's.
  [[nodiscard]] virtual Writes* writes() noexcept = 0;
  /// How messages are copied by several processes, out of memory that they have mapped.
  [[nodiscard]] virtual CopyWay copies() noexcept = 0;
  /// Access to memory that this peer has exposed; null where that is not possible, or not yet: the peer may
  /// have to connect first. The endpoint's.
  [[nodiscard]] virtual Remote* remote() noexcept = 0;
};

class Component {
 public:
  virtual ~Component() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual const Limits& limits() const noexcept = 0;
  [[nodiscard]] virtual const Needs& needs() const noexcept = 0;

  /// The address that others need to reach this process; empty where addresses are computed. Whoever has it
  /// may send: the receiving side is open when the component has been made.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;
  /// Whether this transport could reach `peer` at all (same node ...), and if not, why: without talking to
  /// anybody.
  [[nodiscard]] virtual Result<void> reaches(ProcId peer) const = 0;
  /// Makes the endpoint to a peer, or gives the one that it has made; the component's. `address` is what the
  /// peer's address() gave; empty where addresses are computed. Errors: those of reaches(), which may not
  /// have been asked; an address that is none of this transport's (bad_input). Waits for nobody.
  [[nodiscard]] virtual Result<Endpoint*> connect(ProcId peer, std::span<const std::byte> address) = 0;

  /// Registers memory, so that peers who get its key can reach it (remote.hpp). It stays the caller's and
  /// must outlive the handle. Errors: unsupported where the transport lacks Capability::put.
  [[nodiscard]] virtual Result<std::unique_ptr<Exposed>> expose(std::span<std::byte> memory) = 0;

  /// Delivers what has arrived and pushes what is pending. Returns the number of events, 0 if nothing
  /// happened. Called often: must cost next to nothing without live peers.
  virtual int progress() noexcept = 0;

  /// Announces that this process is about to sleep until woken or until wait_fd() is readable. Returns false
  /// if something arrived meanwhile: do not sleep. After true, wake-ups happen until end_sleep().
  [[nodiscard]] virtual bool begin_sleep() noexcept = 0;
  virtual void end_sleep() noexcept = 0;
  /// Descriptor to sleep on, or -1 if this transport uses only the node segment's doorbell (then the runtime
  /// sleeps on that).
  [[nodiscard]] virtual int wait_fd() const noexcept = 0;

  /// True once everything handed over has left this process (it may then close without loss).
  [[nodiscard]] virtual bool drained() const noexcept = 0;
  /// This process has left MPI in order (idle), or is back. While it is idle its end is no loss, and peers
  /// that would notice the end report Errc::peer_left. They are told over connections that exist; bounded in
  /// time. Called when drained.
  virtual void set_idle(bool idle) noexcept = 0;

  struct Counters {
    std::uint64_t endpoints = 0, messages_sent = 0, messages_received = 0, bytes_sent = 0, bytes_received = 0,
                  gets = 0, mapped_gets = 0, full = 0;  ///< mapped_gets: of the gets, those from a map; full:
                                                        ///< sends that were again
    std::uint64_t remote = 0;                           ///< puts, gets and changes of exposed memory
    std::uint64_t sent_from = 0;     ///< of the messages, those that left out of the sender's own memory
    std::vector<std::string> notes;  ///< fallbacks with their reasons, for the report
  };
  [[nodiscard]] virtual Counters counters() const = 0;
};

/// What a transport knows of this process and its place.
struct Place {
  ProcId self;
  std::uint32_t world_size = 1;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 1;
  /// Local rank of a process of the own node, whatever its world; -1: it is elsewhere.
  std::int64_t (*local_rank_of)(const void* context, ProcId proc) noexcept = nullptr;
  const void* context = nullptr;
  /// The node and local rank of any process of the own world; null: not known.
  struct Seat {
    std::uint32_t node = 0;
    std::uint32_t local_rank = 0;
  };
  Seat (*seat_of)(const void* seats, std::uint32_t rank) noexcept = nullptr;
  const void* seats = nullptr;
  std::uint64_t job = 0;    ///< the same in all processes of the own world, and hardly in another job
  std::uint32_t cores = 0;  ///< that the job's processes share on this node; 0: unknown
  /// The cache (L3) and the memory (NUMA node) that this process is bound to, -1 if it may run in several.
  /// May take milliseconds, the first time. null: nobody knows.
  std::array<std::int32_t, 2> (*domains)() noexcept = nullptr;
};

struct Args {
  params::Registry& params;
  Sink& sink;
  Place place;
  shm::NodeSegment* segment = nullptr;  ///< borrowed; outlives the component
  /// In which the launcher tells deaths on other nodes; null: in `segment`, if it does. As borrowed.
  const shm::NodeSegment* launchers = nullptr;
};

struct Framework {
  using Component = btl::Component;
  using Args = btl::Args;
  static constexpr FixedString<24> kName = "btl";
  static constexpr std::uint32_t kInterface = 12;
};

}  // namespace starling::btl
