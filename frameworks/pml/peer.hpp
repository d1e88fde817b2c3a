// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A process that this one talks to: endpoint, waiting messages, credit. Layer: framework (pml).
///
/// Made on first touch from either side (a context's rank, or the first message from it); never destroyed
/// before the pml.
/// Threads:   the pml's.
/// Ownership: the endpoint is its transport's; requests are their callers'.
/// Ordering:  user messages and control messages wait in one FIFO; answers of the protocols may overtake it.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/pml/chain.hpp"
#include "frameworks/pml/held_back.hpp"
#include "frameworks/pml/paths.hpp"
#include "frameworks/pml/reorder.hpp"
#include "frameworks/pml/request.hpp"
#include "frameworks/pml/traffic.hpp"
#include "frameworks/pml/transfer.hpp"
#include "frameworks/pml/wire.hpp"

namespace starling::pml {

using RequestChain = Chain<Request, &Request::next, &Request::previous>;

/// A protocol message that found its transport full.
struct Answered {
  Answered* next = nullptr;
  Answered* previous = nullptr;
  std::uint32_t bytes = 0;
  std::byte message[wire::kHeaderMax];
};
using AnswerChain = Chain<Answered, &Answered::next, &Answered::previous>;

/// awaited: its address has not been published yet; what is sent to it waits in its FIFO.
enum class PeerState : std::uint8_t { untried, awaited, connected, unreachable, lost };

struct Peer {
  // Read and written for every message.
  btl::Endpoint* endpoint = nullptr;
  std::int64_t fast_bytes = -1;  ///< largest message that may go out at once; -1: no endpoint, or others wait
  std::int64_t credit = 0;       ///< what we may still send eagerly, in cost_of() bytes
  std::int64_t owed = 0;         ///< what the peer sent eagerly, has been consumed, and is not yet returned
  std::int64_t return_at = 0;    ///< owed goes back from here on
  std::uint64_t eager_sent = 0;  ///< messages
  ProcId proc;  // between the two, which gcc would else add as a vector: nine instructions for two
  std::uint64_t eager_bytes_sent = 0;

  PeerState state = PeerState::untried;
  bool busy = false;               ///< in the engine's list of peers with something to push
  bool heard_of = false;           ///< has sent something
  bool left = false;               ///< lost, but in order: nobody counts on it any more
  bool suspect = false;            ///< sent something malformed: noted once
  bool starved = false;            ///< there was no memory for its endpoint, when it was tried last
  Fault fault = Fault::peer_lost;  ///< lost: how that ends what needs it
  Peer* next_busy = nullptr;
  Peer* next_lost = nullptr;  ///< in the list of those reported lost, or of those dealt with

  Traffic slow_sent;               ///< all but the eager ones
  std::size_t eager_bytes = 0;     ///< longest eager payload
  std::size_t fragment_bytes = 0;  ///< payload of one data fragment

  Exchange large;  ///< what the rendezvous keeps

  RequestChain fifo;               ///< sends that have not started, oldest first
  std::unique_ptr<HeldBack> held;  ///< sends that it has no room to hear of; null: there was none yet
  std::uint32_t announced = 0;     ///< what it has been told of and has neither matched nor refused
  AnswerChain answers;             ///< those that wait

  btl::Component* transport = nullptr;
  std::unique_ptr<Paths> paths;      ///< the endpoint, where there are several
  std::unique_ptr<Reorder> reorder;  ///< of what the peer sends, once it has numbered a message
  std::vector<std::string> refused;  ///< "shm: on another node", in the order tried
  std::size_t transports_tried = 0;
  std::uint64_t asked_ns = 0;   ///< awaited: when its address was first asked for
  std::uint64_t ask_at_ns = 0;  ///< awaited: not before

  [[nodiscard]] bool waiting() const noexcept { return !fifo.empty() || !answers.empty() || large.waiting(); }
  [[nodiscard]] bool holds_back() const noexcept { return held != nullptr && !held->empty(); }
  /// After a change of fifo, held or state: whether the fast path is open.
  void update_fast_path() noexcept {
    const bool open = state == PeerState::connected && fifo.empty() && !holds_back();
    fast_bytes = open ? static_cast<std::int64_t>(eager_bytes) : -1;
  }
};

}  // namespace starling::pml
