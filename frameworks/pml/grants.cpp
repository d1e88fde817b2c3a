// SPDX-License-Identifier: BSD-3-Clause
// What is hard: a buffer that another process may write to must not be used for anything else, whatever
// becomes of the message, its sender and its context. Layer: framework. Design:
// docs/design/managed-buffers.md,
// "Pushing".
#include "frameworks/pml/grants.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "core/copy.hpp"
#include "frameworks/btl/writes.hpp"

namespace starling::pml {

using namespace detail;

namespace {

/// Null without memory.
PeerGrants* grants_of(Peer& peer) noexcept {
  if (peer.grants == nullptr) peer.grants.reset(new (std::nothrow) PeerGrants);
  return peer.grants.get();
}

bool add(std::vector<Granted>& to, const Granted& grant) noexcept {
  try {
    to.push_back(grant);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool fits(const Granted& grant, ContextId context, Tag tag, std::uint64_t bytes) noexcept {
  return grant.context == context && grant.tag == tag && grant.bytes >= bytes;
}

}  // namespace

Grants::Pushed Grants::push_granted(Request& request) noexcept {
  Peer& peer = *request.peer;
  const Buffer& buffer = request.buffer;
  if (request.mode == Mode::synchronous) return Pushed::no;  // its end waits for the match
  auto& ours = peer.grants->ours;
  const auto found = std::find_if(ours.begin(), ours.end(), [&](const Granted& grant) {
    return fits(grant, wire_context_of(request), request.tag, buffer.bytes);
  });
  if (found == ours.end()) return Pushed::no;
  btl::Writes* const writes = peer.endpoint->writes();
  const auto bytes = static_cast<std::size_t>(buffer.bytes);
  std::byte* const to = writes != nullptr ? writes->find(found->address, bytes) : nullptr;
  if (to == nullptr) return Pushed::no;
  // Room for the envelope first, or the copy could have been in vain.
  const wire::Pushed header{envelope_of(request, wire::Kind::pushed), buffer.bytes, found->handle};
  std::byte* const envelope = peer.endpoint->reserve(sizeof header);
  if (envelope == nullptr) return Pushed::again;
  if (buffer.layout != nullptr) {
    buffer.layout->pack(buffer.base, buffer.count, 0, to, bytes);
  } else {
    copy_payload(to, static_cast<const std::byte*>(buffer.base), bytes);
  }
  std::memcpy(envelope, &header, sizeof header);
  peer.endpoint->commit(sizeof header);
  ++peer.ordered_sent;
  ours.erase(found);
  ++counters_.pushed;
  counters_.bytes += bytes;
  complete_send(request, Fault::none);
  return Pushed::done;
}

void Grants::on_message(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Grant header;
  if (!wire::read(message, header)) return notes_.malformed(peer, "a grant is shorter than its header");
  if (header.prefix.kind == wire::Kind::grant) {
    on_grant(peer, header);
  } else {
    on_returned(peer, header);
  }
}

void Grants::on_grant(Peer& peer, const wire::Grant& header) noexcept {
  const Granted grant{ContextId{header.context}, Tag{header.tag}, header.handle, header.address,
                      header.bytes};
  // A grant answers a message, so its context has been open here.
  PeerGrants* const grants = matcher_.find(grant.context) != nullptr ? grants_of(peer) : nullptr;
  if (grants == nullptr || !add(grants->ours, grant)) return give_back(peer, grant);
  // Messages have become longer: what was for shorter ones waits in vain.
  for (std::size_t at = 0; at < grants->ours.size();) {
    const Granted old = grants->ours[at];
    if (old.context != grant.context || old.tag != grant.tag || old.bytes >= grant.bytes) {
      ++at;
      continue;
    }
    grants->ours.erase(grants->ours.begin() + static_cast<std::ptrdiff_t>(at));
    give_back(peer, old);
  }
}

void Grants::give_back(Peer& peer, const Granted& grant) noexcept {
  const wire::Grant header{{wire::Kind::returned, 0, 0, 0},
                           grant.context.bits,
                           to_int(grant.tag),
                           0,
                           grant.handle,
                           grant.address,
                           grant.bytes};
  outbox_.answer(peer, wire::bytes_of(header));
}

void Grants::on_returned(Peer& peer, const wire::Grant& header) noexcept {
  if (peer.grants == nullptr) return;
  auto& its = peer.grants->its;
  const auto found = std::find_if(its.begin(), its.end(),
                                  [&](const Granted& grant) { return grant.handle == header.handle; });
  if (found == its.end()) return notes_.malformed(peer, "it returns a buffer that it was not granted");
  granted_bytes_ -= static_cast<std::size_t>(found->bytes);
  its.erase(found);
  pool_->give({header.handle});
}

bool Grants::arrived(Peer& peer, std::span<const std::byte> message, ContextId& context,
                     Arrival& arrival) noexcept {
  wire::Pushed header;
  if (!wire::read(message, header) || peer.grants == nullptr) return false;
  auto& its = peer.grants->its;
  const auto found = std::find_if(its.begin(), its.end(), [&](const Granted& grant) {
    return grant.handle == header.handle &&
           fits(grant, ContextId{header.envelope.context}, Tag{header.envelope.tag}, header.length);
  });
  if (found == its.end()) return false;
  granted_bytes_ -= static_cast<std::size_t>(found->bytes);
  its.erase(found);
  context = ContextId{header.envelope.context};
  arrival = Arrival::of(header.envelope, header.length, header.handle, {}, nullptr);
  return true;
}

void Grants::match(Request& request, Peer& peer, const Arrival& arrival) noexcept {
  const shm::BufferPool::Handle handle{arrival.sender_id};
  Placement* const placement = placement_of(request.buffer);
  if (placement != nullptr) offer(peer, request, arrival);
  request.peer = &peer;
  request.status.source = arrival.rank;
  request.status.tag = arrival.tag;
  const auto bytes = static_cast<std::size_t>(std::min(arrival.length, request.buffer.bytes));
  if (bytes < arrival.length) {
    request.flags |= kTruncated;
    request.total = arrival.length;
  }
  if (placement != nullptr && bytes != 0 && placement->adopt(request.buffer, handle.bits, bytes)) {
    ++counters_.adopted;
    return complete_receive(request, bytes, Fault::none);
  }
  ++counters_.copied;
  const bool placed = bytes == 0 || place(request.buffer, bytes);
  const std::byte* const from = pool_->find(handle)->memory;
  if (bytes == 0 || !placed) {
    // There is no buffer.
  } else if (request.buffer.layout != nullptr) {
    request.buffer.layout->unpack(request.buffer.base, request.buffer.count, 0, from, bytes);
  } else {
    copy_payload(request.buffer.base, from, bytes);
  }
  pool_->give(handle);
  complete_receive(request, placed ? bytes : 0, placed ? Fault::none : Fault::no_memory);
}

void Grants::offer(Peer& peer, const Request& request, const Arrival& arrival) noexcept {
  if (arrival.length > kLongest || peers_.connect(peer) != Contact::made) return;
  if (arrival.length <= peer.eager_bytes) return;
  if (peer.endpoint->writes() == nullptr) return;
  pool_ = &placement_of(request.buffer)->pool();
  const ContextId context = request.context->id();
  unsigned have = 0;
  if (peer.grants != nullptr) {
    for (const Granted& grant : peer.grants->its) have += fits(grant, context, arrival.tag, arrival.length);
  }
  while (have++ < kAhead && grant(peer, context, request.context->my_rank(), arrival.tag, arrival.length)) {
  }
}

/// False: there is no room that others can map.
bool Grants::grant(Peer& peer, ContextId context, Rank rank, Tag tag, std::uint64_t bytes) noexcept {
  const auto whole = static_cast<std::size_t>(std::bit_ceil(bytes));
  if (!pool_->shared() || granted_bytes_ + whole > pool_->range_bytes() / 2) return false;
  PeerGrants* const grants = grants_of(peer);
  const shm::BufferPool::Handle handle =
      grants != nullptr ? pool_->take(whole, shm::BufferPool::Where::in_range) : shm::BufferPool::Handle{};
  const shm::BufferPool::Buffer* const buffer = pool_->find(handle);
  if (buffer == nullptr) return false;
  if (!add(grants->its, {context, tag, handle.bits, 0, whole})) {
    pool_->give(handle);
    return false;
  }
  granted_bytes_ += whole;
  const wire::Grant header{{wire::Kind::grant, 0, 0, 0},
                           context.bits,
                           to_int(tag),
                           to_int(rank),
                           handle.bits,
                           reinterpret_cast<std::uintptr_t>(buffer->memory),
                           whole};
  outbox_.answer(peer, wire::bytes_of(header));
  return true;
}

void Grants::close(ContextId context) noexcept {
  peers_.each([&](Peer& peer) {
    if (peer.grants == nullptr) return;
    auto& ours = peer.grants->ours;
    for (std::size_t at = 0; at < ours.size();) {
      const Granted grant = ours[at];
      if (grant.context != context) {
        ++at;
        continue;
      }
      ours.erase(ours.begin() + static_cast<std::ptrdiff_t>(at));
      give_back(peer, grant);
    }
  });
}

}  // namespace starling::pml
