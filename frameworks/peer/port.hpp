// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Who takes messages of other processes: a port for each use, told apart by kind. Layer: framework
/// interface.
///
/// All ports share peers, endpoints and order (peers.hpp). One of them is the front: the pml. Most messages
/// are its, so the transports hand all messages to it first; it gives those of other ports to
/// Peers::deliver().
/// Threads:   called by the thread that progresses, one at a time.
/// Ownership: a port outlives its registration; messages are valid during the call.
/// Ordering:  of a peer: kinds whose order is kept arrive in the order sent, whatever port they are for.
/// Errors:    nothing that a peer sends is trusted: what does not fit goes to Notes::malformed().
/// Units:     bytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "frameworks/btl/btl.hpp"

namespace starling::peer {

struct Peer;

/// How the messages of a kind go where several paths lead to a peer.
enum class Order : std::uint8_t {
  kept,  ///< taken in the order sent: numbered
  free,  ///< may overtake: it names what it is about by an id
  dealt  ///< as free, and each takes the next path: fragments of long messages
};

struct KindFacts {
  std::uint8_t kind = 0;
  Order order = Order::kept;
};

class Port {
 public:
  /// For notes and errors: "pml".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// A message of one of its kinds, its prefix included.
  virtual void receive(Peer& from, std::span<const std::byte> message) noexcept = 0;
  /// The peer is lost (Peer::fault says how): whatever of this port needs it ends. Once, from progress(), so
  /// that nothing is in anybody's hands.
  virtual void lose(Peer& peer) noexcept = 0;

 protected:
  ~Port() = default;
};

/// The port that the transports deliver to: its own messages come to on_message() and not to receive(). It
/// makes the peers, since it keeps state of its own in each.
class Front : public btl::Sink, public Port {
 public:
  /// May throw std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<Peer> make_peer(ProcId proc) = 0;
  /// The peer has an endpoint now, or another one.
  virtual void on_connected(Peer& peer) noexcept = 0;
  /// What was to be sent once an address is there will not be sent: the peer cannot be reached (Peer::state).
  virtual void on_no_contact(Peer& peer) noexcept = 0;
  /// Sends a short message of any port in order with the front's own; keeps a copy until there is room.
  virtual void send(Peer& peer, std::uint8_t kind, std::span<const std::byte> payload) = 0;

  /// Decides what was put off; an answer that follows from it goes out in the same pass. Returns events.
  [[nodiscard]] virtual int decide(Peer& peer) noexcept = 0;
  /// Sends to a connected peer what is short and what others wait for. Returns events.
  [[nodiscard]] virtual int push(Peer& peer) noexcept = 0;
  /// Then, after that of all peers, the data. Also for a lost peer. Returns events.
  [[nodiscard]] virtual int push_data(Peer& peer) noexcept = 0;
  /// Whether something waits that push() or push_data() takes further; for a lost peer, push_data() only.
  [[nodiscard]] virtual bool waiting(const Peer& peer) const noexcept = 0;
  /// Whether some of that goes on by passes of progress() alone, so that nobody rings for it.
  [[nodiscard]] virtual bool needs_passes(const Peer& peer) const noexcept = 0;
  /// Called by each progress() while Peers::set_restless(true) holds. Returns events.
  [[nodiscard]] virtual int look() noexcept = 0;
  /// Nothing of its own is on its way out.
  [[nodiscard]] virtual bool drained() const noexcept = 0;

 protected:
  ~Front() = default;
};

/// Which port a kind belongs to, and how its messages go.
class Ports {
 public:
  /// Refuses a kind that another port has; then nothing is added.
  [[nodiscard]] Result<void> add(Port& port, std::span<const KindFacts> kinds);
  void remove(const Port& port) noexcept;
  [[nodiscard]] bool has(const Port& port) const noexcept;
  /// Null: nobody has it.
  [[nodiscard]] Port* of(std::uint8_t kind) const noexcept { return entries_[kind].port; }
  [[nodiscard]] Order order(std::uint8_t kind) const noexcept { return entries_[kind].order; }
  [[nodiscard]] const std::vector<Port*>& all() const noexcept { return ports_; }

 private:
  struct Entry {
    Port* port = nullptr;
    Order order = Order::free;
  };
  std::array<Entry, 256> entries_{};
  std::vector<Port*> ports_;
};

}  // namespace starling::peer
