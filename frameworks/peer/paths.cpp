// SPDX-License-Identifier: BSD-3-Clause
// Which message takes which path, and which get a number. See docs/design/network.md, "Several paths".
#include "frameworks/peer/paths.hpp"

#include <algorithm>
#include <cstring>

#include "frameworks/peer/reorder.hpp"

namespace starling::peer {
namespace {

wire::Numbered number_of(std::uint64_t number) noexcept { return {{wire::Kind::numbered, 0, 0, 0}, number}; }

}  // namespace

void Paths::add(btl::Component& transport, btl::Endpoint& endpoint) {
  paths_.push_back({&transport, &endpoint});
  name_ += (name_.empty() ? "" : "+") + std::string(transport.name());
}

std::size_t Paths::message_max() const noexcept {
  std::size_t least = SIZE_MAX;
  for (const Path& path : paths_) least = std::min(least, path.transport->limits().message_max_bytes);
  return least - sizeof(wire::Numbered);
}

std::size_t Paths::eager_bytes() const noexcept {
  std::size_t least = SIZE_MAX;
  for (const Path& path : paths_) least = std::min(least, path.transport->limits().eager_bytes);
  return least;
}

std::size_t Paths::fragment_bytes() const noexcept {
  std::size_t least = message_max();
  for (const Path& path : paths_) least = std::min(least, path.transport->limits().fragment_bytes);
  return least;
}

void Paths::passed(std::uint64_t number) noexcept {
  if (number > passed_ && number <= sent_) passed_ = number;
}

bool Paths::window_full() const noexcept { return sent_ - passed_ >= Reorder::kWindow; }

/// Messages differ in length, often in turn (an announcement, a fragment, an announcement ...), so bytes are
/// counted and not messages.
std::size_t Paths::first_choice(bool in_turn) const noexcept {
  if (!in_turn) return 0;
  const auto fewest = std::min_element(paths_.begin(), paths_.end(),
                                       [](const Path& a, const Path& b) { return a.ahead < b.ahead; });
  return static_cast<std::size_t>(fewest - paths_.begin());
}

/// Only the last few messages count: a path that has refused for a while does not get all that follows.
void Paths::count(std::size_t path, std::size_t bytes) noexcept {
  constexpr std::size_t kMost = 128 * 1024;
  paths_[path].ahead = std::min(paths_[path].ahead + bytes, kMost);
  std::size_t least = kMost;
  for (const Path& each : paths_) least = std::min(least, each.ahead);
  for (Path& each : paths_) each.ahead -= least;
}

Post Paths::offer(bool dealt, std::span<const std::byte> header,
                  std::span<const std::byte> payload) noexcept {
  const bool in_turn = takes_turns(dealt);
  const std::size_t first = first_choice(in_turn);
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const std::size_t path = (first + i) % paths_.size();
    const Post post = paths_[path].endpoint->send(header, payload);
    if (post == Post::again) continue;
    if (in_turn) count(path, header.size() + payload.size());
    return post;
  }
  return Post::again;
}

Post Paths::send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept {
  const Order order = ports_.order(static_cast<std::uint8_t>(header.front()));
  if (order != Order::kept) return offer(order == Order::dealt, header, payload);
  if (window_full()) return Post::again;
  std::byte both[sizeof(wire::Numbered) + wire::kHeaderMax];
  const wire::Numbered number = number_of(sent_ + 1);
  std::memcpy(both, &number, sizeof number);
  std::memcpy(both + sizeof number, header.data(), header.size());
  const Post post = offer(false, {both, sizeof number + header.size()}, payload);
  if (post != Post::again) ++sent_;
  return post;
}

std::byte* Paths::reserve(std::size_t bytes) noexcept {
  if (window_full()) return nullptr;
  const std::size_t first = first_choice(takes_turns(false));
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    reserved_ = (first + i) % paths_.size();
    room_ = paths_[reserved_].endpoint->reserve(sizeof(wire::Numbered) + bytes);
    if (room_ == nullptr) continue;
    return room_ + sizeof(wire::Numbered);
  }
  return nullptr;
}

void Paths::commit(std::size_t bytes) noexcept {
  const Order order = ports_.order(static_cast<std::uint8_t>(room_[sizeof(wire::Numbered)]));
  const wire::Numbered number = number_of(order == Order::kept ? ++sent_ : 0);
  std::memcpy(room_, &number, sizeof number);
  paths_[reserved_].endpoint->commit(sizeof number + bytes);
  if (takes_turns(false)) count(reserved_, sizeof number + bytes);
}

bool Paths::await_room() noexcept {
  // Where the window is full, the message that opens it wakes us as any other.
  bool all = true;
  for (const Path& path : paths_) all = path.endpoint->await_room() && all;
  return all;
}

}  // namespace starling::peer
