// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets by the transport. What is hard: the connection to a target may not be there yet, or may be
// another network's than the one that its key is for; then messages do it. Layer: mpi.
// docs/design/onesided.md

#include "mpi/onesided/native.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/onesided/reach.hpp"
#include "mpi/onesided/window.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi::message {

Native::~Native() {
  note_native(transport_, accesses_);
  if (Runtime::get() == nullptr) return;
  // A window is freed when everything has been settled, but for what went to peers that are lost.
  for (const auto& [rank, way] : ways_) {
    if (way->region != nullptr)
      Runtime::get()->waits().wait([&one = *way] { return one.open.empty() && !one.flushing; });
  }
}

bool Native::expose(std::span<std::byte> memory) {
  const auto& transports = Runtime::get()->transports();
  for (std::size_t at = transports.near(); at < transports.all().size(); ++at) {
    btl::Component& network = *transports.all()[at];
    if (!network.limits().can.has(btl::Capability::put)) continue;
    auto exposed = network.expose(memory);
    if (!exposed || (*exposed)->key().size() > btl::Exposed::kKeyMax) continue;
    exposed_ = std::move(*exposed);
    const std::string_view name = network.name();
    std::memcpy(own_.transport.data(), name.data(), std::min(name.size(), own_.transport.size() - 1));
    own_.bytes = exposed_->key().size();
    std::memcpy(own_.key.data(), exposed_->key().data(), own_.bytes);
    return true;
  }
  return false;
}

/// Null: messages. The first access makes the connection.
Native::Way* Native::way(std::uint32_t rank) {
  if (rank >= keys_.size() || keys_[rank].bytes == 0) return nullptr;
  auto& way = ways_[rank];
  if (way == nullptr) way = std::make_unique<Way>();
  if (way->hopeless) return nullptr;
  if (way->region != nullptr) return way.get();
  peer::Table& table = Runtime::get()->peers().table();
  peer::Peer& peer = table.peer(win_.comm().group()->at(rank));
  if (table.connect(peer) != peer::Contact::made) return nullptr;
  const NativeKey& key = keys_[rank];
  if (peer.transport->name() != std::string_view(key.transport.data())) {
    way->hopeless = true;
    return nullptr;
  }
  btl::Remote* const remote = peer.endpoint->remote();
  if (remote == nullptr) return nullptr;
  auto region = remote->open(std::span(key.key).first(std::min<std::size_t>(key.bytes, key.key.size())));
  if (!region) {
    way->hopeless = region.error().code == Errc::bad_input;
    return nullptr;
  }
  way->region = std::move(*region);
  way->remote = remote;
  transport_ = peer.transport->name();
  return way.get();
}

Native::Flight& Native::take_off(Way& way, std::uint64_t number) {
  if (free_.empty()) free_.push_back(&flights_.emplace_back());
  Flight& flight = *free_.back();
  free_.pop_back();
  flight.done = &Native::on_done;
  flight.native = this;
  flight.way = &way;
  flight.number = number;
  return flight;
}

void Native::on_done(btl::Completion* completion, bool ok) noexcept {
  auto& flight = static_cast<Flight&>(*completion);
  flight.native->landed(flight, ok);
}

void Native::landed(Flight& flight, bool ok) noexcept {
  Way& way = *flight.way;
  if (flight.number == 0) {
    way.flushing = false;
  } else {
    way.open.erase(flight.number);
  }
  if (!ok) {
    way.failed = way.hopeless = true;  // what follows goes by messages, so no other number lies between these
    if (flight.number != 0) {
      way.failed_from = way.failed_from == 0 ? flight.number : std::min(way.failed_from, flight.number);
      way.failed_to = std::max(way.failed_to, flight.number);
    }
  }
  free_.push_back(&flight);
}

template <class Access>
bool Native::start(std::uint32_t rank, std::uint64_t number, std::size_t bytes, bool puts, Access&& access) {
  Way* const to = way(rank);
  if (to == nullptr || bytes > to->remote->facts().access_max_bytes) return false;
  const auto room = [to] { return to->open.size() < kOpenMost; };
  if (!room()) {
    Runtime::get()->waits().wait(room);
    if (to->hopeless) return false;  // while this one waited
  }
  Flight& flight = take_off(*to, number);
  to->open.insert(number);
  Post post = Post::again;
  const auto accepted = [&] {
    post = access(*to, &flight);
    return post != Post::again;
  };
  if (!accepted()) Runtime::get()->waits().wait(accepted);
  if (post == Post::done) landed(flight, true);
  to->unflushed |= puts;
  ++accesses_;
  return true;
}

bool Native::put(std::uint32_t rank, std::uint64_t number, std::uint64_t offset,
                 std::span<const std::byte> from) {
  return start(rank, number, from.size(), true, [&](Way& to, btl::Completion* completion) {
    return to.remote->put(*to.region, offset, from, completion);
  });
}

bool Native::get(std::uint32_t rank, std::uint64_t number, std::uint64_t offset, std::span<std::byte> to) {
  return start(rank, number, to.size(), false, [&](Way& from, btl::Completion* completion) {
    return from.remote->get(*from.region, offset, to, completion);
  });
}

bool Native::done_here(std::uint32_t rank, std::uint64_t number) const noexcept {
  const auto found = ways_.find(rank);
  return found == ways_.end() || found->second->open.empty() || *found->second->open.begin() > number;
}

bool Native::done_here(std::uint32_t rank) const noexcept {
  const auto found = ways_.find(rank);
  return found == ways_.end() || found->second->open.empty();
}

bool Native::failed(std::uint32_t rank, std::uint64_t number) const noexcept {
  const auto found = ways_.find(rank);
  if (found == ways_.end() || found->second->failed_from == 0) return false;
  return number >= found->second->failed_from && number <= found->second->failed_to;
}

bool Native::settled(std::uint32_t rank) noexcept {
  const auto found = ways_.find(rank);
  if (found == ways_.end() || found->second->region == nullptr) return true;
  Way& way = *found->second;
  if (way.unflushed && !way.flushing && way.hopeless) {
    way.unflushed = false;
    way.failed = true;  // nobody can say any more what has taken effect there
  } else if (way.unflushed && !way.flushing) {
    way.unflushed = false;
    way.flushing = true;
    Flight& flight = take_off(way, 0);
    const Post post = way.remote->flush(&flight);
    if (post == Post::again) way.unflushed = true;
    if (post != Post::posted) landed(flight, true);
  }
  return !way.flushing && !way.unflushed && way.open.empty();
}

std::vector<std::uint32_t> Native::used() const {
  std::vector<std::uint32_t> ranks;
  for (const auto& [rank, way] : ways_) {
    if (way->region != nullptr) ranks.push_back(rank);
  }
  return ranks;
}

void Native::lose(std::uint32_t rank) noexcept {
  if (const auto found = ways_.find(rank); found != ways_.end()) found->second->hopeless = true;
}

bool Native::take_failure(std::uint32_t rank) noexcept {
  const auto found = ways_.find(rank);
  return found != ways_.end() && std::exchange(found->second->failed, false);
}

}  // namespace starling::mpi::message
