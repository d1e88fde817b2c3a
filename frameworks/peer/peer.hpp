// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A process that this one talks to: endpoint, state, what waits for room. Layer: framework (peer).
///
/// Made on first touch from either side (something is to be sent to it, or its first message comes); never
/// destroyed before the front leaves. The front derives from it what it keeps of a process.
/// Threads:   the thread that progresses.
/// Ownership: the endpoint is its transport's.
/// Ordering:  answers may overtake whatever else waits.
/// Units:     bytes and nanoseconds.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/chain.hpp"
#include "core/ids.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/peer/fault.hpp"
#include "frameworks/peer/paths.hpp"
#include "frameworks/peer/reorder.hpp"
#include "frameworks/peer/wire.hpp"

namespace starling::peer {

/// An answer that found its transport full.
struct Answered {
  Answered* next = nullptr;
  Answered* previous = nullptr;
  std::uint32_t bytes = 0;
  std::byte message[wire::kHeaderMax];
};
using AnswerChain = Chain<Answered, &Answered::next, &Answered::previous>;

/// awaited: its address has not been published yet; what is sent to it waits.
enum class State : std::uint8_t { untried, awaited, connected, unreachable, lost };

/// What was tried to reach a process, and how it has reached this one.
struct FirstContact {
  std::vector<std::string> refused;  ///< "shm: on another node", in the order tried
  std::size_t transports_tried = 0;
  std::uint64_t asked_ns = 0;   ///< awaited: when its address was first asked for
  std::uint64_t ask_at_ns = 0;  ///< awaited: not before
  /// Of what it sends, by the transport of its first message; null: nothing can be kept.
  btl::Keeper* keeper = nullptr;
};

/// Making one may throw std::bad_alloc.
struct Peer {
  explicit Peer(ProcId who) : proc(who) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;

  btl::Component* transport = nullptr;
  std::unique_ptr<Paths> paths;      ///< the endpoint, where there are several
  std::unique_ptr<Reorder> reorder;  ///< of what the peer sends, once it has numbered a message
  AnswerChain answers;               ///< those that wait
  /// Never null; apart, so that what the front adds is not far from what is used for every message.
  const std::unique_ptr<FirstContact> contact = std::make_unique<FirstContact>();
  Peer* next_busy = nullptr;
  Peer* next_lost = nullptr;  ///< in the list of those reported lost, or of those dealt with

  State state = State::untried;
  Fault fault = Fault::peer_lost;  ///< lost: how that ends what needs it
  bool busy = false;               ///< in the list of peers with something to push
  bool heard_of = false;           ///< has sent something
  bool left = false;               ///< lost, but in order: nobody counts on it any more
  bool suspect = false;            ///< sent something malformed: noted once
  bool starved = false;            ///< there was no memory for its endpoint, when it was tried last
  ProcId proc;

  // Read for every message that is sent; what the front adds of that kind lies behind.
  btl::Endpoint* endpoint = nullptr;
  /// Largest message of the front's that may go out at once; -1: no endpoint, or others wait. The front opens
  /// it, a loss closes it.
  std::int64_t fast_bytes = -1;
  /// The same of those that may stay open: -1 too where they are to join others (btl::Limits::join_bytes).
  std::int64_t fast_open_bytes = -1;
};

}  // namespace starling::peer
