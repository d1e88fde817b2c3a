// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Point-to-point messages: matching and protocols. Layer: framework interface.
///
/// A pml is the front of the peers (frameworks/peer/port.hpp), who deliver to it and drive it.
///
/// Threads:   driven by one thread at a time (the runtime's lock under MPI_THREAD_MULTIPLE).
/// Ownership: contexts belong to the component between open() and close(); requests and buffers to the
///            caller.
/// Ordering:  MPI's: messages from one process on one context match in the order they were sent, whatever
///            path carried them.
/// Errors:    per request, in Request::status.fault; an unreachable peer is logged once with every
///            transport's reason.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/context_ids.hpp"
#include "core/ids.hpp"
#include "core/proc_list.hpp"
#include "core/result.hpp"
#include "frameworks/peer/peers.hpp"
#include "frameworks/pml/request.hpp"
#include "frameworks/pml/traffic.hpp"
#include "params/registry.hpp"

namespace starling::pml {

/// One channel of one communicator: an id, my rank, and who the other ranks are (the remote group for an
/// intercommunicator). Concrete type of the matching engine: frameworks/pml/context.hpp.
class Context;

/// An unexpected message that mprobe has taken out of the queues.
struct Message;

/// A send or receive that is not complete, for hang help.
struct Pending {
  ContextId context;
  bool receive = false;
  Rank rank{0};
  Tag tag{0};
  std::uint64_t bytes = 0;     ///< of the buffer
  std::uint64_t since_ns = 0;  ///< first note_time() that found it; 0: none yet
  const char* stage = "";      ///< how far it is: "data are moving"
};

class Component {
 public:
  virtual ~Component() = default;

  /// Opens a context; messages that were parked for its own id are replayed before this returns. `my_rank` is
  /// the rank that others see as source. Messages to a member carry the id of the member's world.
  [[nodiscard]] virtual Result<Context*> open(ContextIds ids, Rank my_rank, ProcListPtr ranks) = 0;
  /// Closes it. Pending receives are completed as cancelled; late messages are dropped.
  virtual void close(Context* context) noexcept = 0;
  /// Starts a send: fills `request` (fields buffer, context, rank, tag, mode set by the caller; complete ==
  /// false). May complete it at once.
  virtual void isend(Request& request) noexcept = 0;
  /// A whole blocking-send attempt without a request: done: the buffer may be reused; again: use isend.
  virtual Post try_send(Context& context, Rank rank, Tag tag, const void* data,
                        std::size_t bytes) noexcept = 0;
  /// The same of a send whose request would be waited for: again also where short ones join others, so that
  /// isend may leave it open for a while.
  virtual Post try_isend(Context& context, Rank rank, Tag tag, const void* data,
                         std::size_t bytes) noexcept = 0;
  /// Starts a receive. May complete it at once.
  virtual void irecv(Request& request) noexcept = 0;

  /// Looks for a matching unexpected message without receiving it; does not progress. True: `status`, if it
  /// is not null, says what it is.
  [[nodiscard]] virtual bool probe(Context& context, Rank source, Tag tag, Status* status) noexcept = 0;
  /// As probe(), and takes the message out of matching; null if there is none. It must be received with
  /// mrecv.
  [[nodiscard]] virtual Message* mprobe(Context& context, Rank source, Tag tag, Status* status) noexcept = 0;
  /// As irecv(), of what mprobe() gave, which is used up. Of the request the buffer and the context are set.
  virtual void mrecv(Message* message, Request& request) noexcept = 0;
  /// Why no message from `source` can come any more that has not come: it has ended, or for a wildcard all
  /// other processes of the context have (peer_left if all of them in order). none: one may come.
  [[nodiscard]] virtual Fault lost(const Context& context, Rank source) const noexcept = 0;
  /// Whether this is a receive of the program's that stays posted although those that could have sent have
  /// left in order: it may still be cancelled, and a wildcard matched by this process itself.
  [[nodiscard]] virtual bool hopeless(const Request& request) const noexcept = 0;
  /// Ends a hopeless receive with Fault::peer_left.
  virtual void give_up(Request& request) noexcept = 0;

  /// Tries to cancel a receive that has not matched, or a send that has not started (then it completes,
  /// cancelled).
  virtual void cancel(Request& request) noexcept = 0;

  struct Counters {
    std::uint64_t eager_sent = 0, rendezvous_sent = 0, unexpected = 0, unexpected_bytes = 0,
                  unexpected_bytes_max = 0, credit_stalls = 0;
    std::vector<std::string> notes;
  };
  [[nodiscard]] virtual Counters counters() const = 0;
  /// What was sent to each process that has an endpoint, in no order.
  [[nodiscard]] virtual std::vector<PeerTraffic> traffic() const = 0;
  /// For hang help: every pending receive and send.
  [[nodiscard]] virtual std::vector<Pending> pending() const = 0;
  /// Tells the time now and then while the process waits: pending messages that have no age yet begin to age,
  /// so that posting them need not read a clock; those that cannot end since a process has died are ended.
  virtual void note_time(std::uint64_t now_ns) noexcept = 0;
};

struct Args {
  params::Registry& params;
  peer::Peers& peers;  ///< borrowed; outlives the component, which becomes its front
  ProcId self;
  std::uint32_t world_size = 1;
};

struct Framework {
  using Component = pml::Component;
  using Args = pml::Args;
  static constexpr FixedString<24> kName = "pml";
  static constexpr std::uint32_t kInterface = 10;
};

}  // namespace starling::pml
