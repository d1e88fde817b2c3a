// SPDX-License-Identifier: BSD-3-Clause
// Whose a message is. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/port.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "mpi/onesided/part.hpp"
#include "mpi/onesided/window.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi::message {

std::size_t longest_message(ProcId to, bool& final) {
  constexpr std::size_t kHeads = 64;  // what comes in front of it, amply
  Runtime& runtime = *Runtime::get();
  const peer::Peer& peer = runtime.peers().table().peer(to);
  final = peer.state == peer::State::connected && peer.paths == nullptr;
  if (final)
    return std::min(peer::wire::kPayloadLongMax, peer.transport->limits().message_max_bytes - kHeads);
  if (runtime.place().on_node(to)) return peer::wire::kPayloadMax;
  return runtime.transports().network_message_bytes();
}

Port& Port::get() {
  static auto* const port = new Port;  // as long as the process: peers may call it to the end
  return *port;
}

Result<void> Port::add(Win& win) {
  if (!Runtime::get()->peers().has(*this)) {
    constexpr std::array kKinds{peer::KindFacts{kKind, peer::Order::kept}};
    if (auto added = Runtime::get()->peers().add(*this, kKinds); !added) return added;
  }
  windows_.emplace(win.comm().id().bits, &win);
  return {};
}

void Port::remove(Win& win) noexcept { windows_.erase(win.comm().id().bits); }

Result<void> Port::send(ProcId to, std::span<const std::byte> message) {
  return Runtime::get()->peers().send(to, kKind, message);
}

void Port::activate(Channel& channel) {
  if (std::find(active_.begin(), active_.end(), &channel) != active_.end()) return;
  active_.push_back(&channel);
  Runtime::get()->polling().add(*this);
}

void Port::forget(Channel& channel) noexcept {
  std::erase(active_, &channel);
  if (active_.empty()) Runtime::get()->polling().remove(*this);
}

int Port::progress() noexcept {
  int events = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) events += active_[i]->advance();
  std::erase_if(active_, [](const Channel* channel) { return channel->idle(); });
  if (active_.empty()) Runtime::get()->polling().remove(*this);
  return events;
}

void Port::say_gone(ProcId to, std::uint64_t window) noexcept {
  std::array<std::byte, sizeof(Head) + sizeof(Record)> message;
  Record record;
  record.what = What::gone;
  const Head answer{window, kUnknownRank, kBack, 0, 0};
  std::memcpy(message.data(), &answer, sizeof answer);
  std::memcpy(message.data() + sizeof answer, &record, sizeof record);
  (void)send(to, message);
}

void Port::receive(peer::Peer& from, std::span<const std::byte> message) noexcept {
  peer::Peers& peers = Runtime::get()->peers();
  const auto payload = peers.payload(from, message);
  Head head;
  if (!payload) return;
  if (!read(*payload, head)) return peers.notes().malformed(from, "a one-sided message without a head");
  const auto found = windows_.find(head.window);
  if (found == windows_.end()) {
    // A member that uses this process's part is told; what was for this process as an origin is dropped.
    if ((head.flags & kBack) != 0)
      return peers.notes().malformed(from, "a message for a window that is not there");
    return say_gone(from.proc, head.window);
  }
  Win& win = *found->second;
  if (head.rank == kUnknownRank) head.rank = win.comm().group()->find(from.proc).value_or(kUnknownRank);
  if (head.rank >= win.size() || win.comm().group()->at(head.rank) != from.proc)
    return peers.notes().malformed(from, "a message of another member of a window");
  Part& part = Part::of(win);
  auto records = payload->subspan(sizeof head);
  if ((head.flags & kBack) == 0) return part.from(head.rank).on_message(head, records);
  Record record;
  while (read(records, record) && record.bytes <= records.size() - sizeof record) {
    const auto data = records.subspan(sizeof record, record.bytes);
    Channel& channel = part.to(head.rank);
    switch (record.what) {
      case What::done: channel.on_done(record.count); break;
      case What::data: channel.on_data(record, data); break;
      case What::failed: channel.on_failed(record, data); break;
      case What::gone: part.on_gone(head.rank); break;
      default: return peers.notes().malformed(from, "an unknown answer of a window");
    }
    records = records.subspan(sizeof record + record.bytes);
  }
}

void Port::lose(peer::Peer& peer) noexcept {
  for (const auto& [id, win] : windows_) Part::of(*win).lose(peer.proc);
}

}  // namespace starling::mpi::message
