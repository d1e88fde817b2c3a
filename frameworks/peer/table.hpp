// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Peers and their first contact: which transport reaches whom. Layer: framework (peer).
///
/// Threads:   the thread that progresses.
/// Ownership: peers live as long as the table; transports and the address book are the runtime's.
/// Errors:    a peer that nothing reaches is logged once, with every transport and its reason; connect() then
///            says none until another transport is added. An address that is merely not published in time is
///            asked for again.
/// Units:     bytes.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frameworks/btl/address.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/peer/peer.hpp"

namespace starling::peer {

enum class Contact : std::uint8_t {
  made,
  later,  ///< the address is not there yet: try again from progress
  none    ///< lost or unreachable (see Peer::state)
};

/// How long to wait before an address is asked for again that has been awaited for so long: half as long
/// again, so that questions are few and at most a third of the time is lost.
[[nodiscard]] constexpr std::uint64_t pause_before_asking_ns(std::uint64_t awaited_ns) noexcept {
  return std::clamp<std::uint64_t>(awaited_ns / 2, 200'000, 50'000'000);
}

/// By how many networks a peer is reached at the same time, and how messages are dealt to them.
struct PathChoice {
  std::uint32_t max = 1;
  PathUse use = PathUse::spill;
};

class Table {
 public:
  explicit Table(const Ports& ports) noexcept : ports_(ports) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// Who makes the peers; null: it leaves, and all peers go.
  void set_front(Front* front, const PathChoice& paths) noexcept {
    front_ = front;
    paths_ = paths;
    if (front == nullptr) peers_.clear();
  }
  void add_transport(btl::Component& transport) {
    transports_.push_back(&transport);
    if (transport.limits().idle_passes == 1) polled_.push_back(&transport);
  }
  /// Those that every progress call looks at.
  [[nodiscard]] const std::vector<btl::Component*>& polled() const noexcept { return polled_; }
  void set_address_book(btl::AddressBook* book) noexcept { book_ = book; }
  [[nodiscard]] const std::vector<btl::Component*>& transports() const noexcept { return transports_; }

  /// The peer of a process, made now if it is new; not connected. There is a front. May throw std::bad_alloc.
  Peer& peer(ProcId proc);
  /// The peer of a process if there is one, else null.
  [[nodiscard]] Peer* find(ProcId proc) const noexcept;
  /// Makes the endpoint unless there is one. Never waits for the peer. Without memory there is none this time
  /// (Peer::starved).
  Contact connect(Peer& peer) noexcept {
    return peer.state == State::connected ? Contact::made : connect_first(peer);
  }
  /// Endpoints to those of other nodes who have sent something and were never answered, where their addresses
  /// are at hand. What fails is left out: nobody waits for it.
  void make_ways_back();
  /// Whether a network has had something to do lately: who copies long then looks at it in between.
  [[nodiscard]] bool network_active() const noexcept { return network_active_; }
  void set_network_active(bool active) noexcept { network_active_ = active; }
  [[nodiscard]] std::size_t size() const noexcept { return peers_.size(); }
  /// Why a transport that reaches a process was not used, each reason once; for the report.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [proc, peer] : peers_) visit(*peer);
  }

 private:
  void refuse(Peer& peer, const btl::Component& transport, const std::string& reason);
  enum class Tried : std::uint8_t { connected, refused, timed_out, not_yet };
  struct Attempt {
    Tried tried;
    btl::Endpoint* endpoint = nullptr;
  };
  Attempt try_transport(Peer& peer, btl::Component& transport);
  [[gnu::noinline]] Contact connect_first(Peer& peer) noexcept;
  Contact try_transports(Peer& peer);
  void use(Peer& peer, btl::Component& transport, btl::Endpoint& endpoint);
  void add_paths(Peer& peer, std::size_t from);
  Contact wait_for_address(Peer& peer);
  void make_way_back(ProcId to, btl::Component& network);

  const Ports& ports_;
  Front* front_ = nullptr;
  PathChoice paths_;
  std::vector<btl::Component*> transports_, polled_;
  btl::AddressBook* book_ = nullptr;
  std::unordered_map<ProcId, std::unique_ptr<Peer>> peers_;
  std::vector<std::string> notes_;
  bool network_active_ = false;
};

}  // namespace starling::peer
