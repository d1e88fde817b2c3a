// SPDX-License-Identifier: BSD-3-Clause
// Eager messages that are packed or answered, and the credit's way back.
#include "frameworks/pml/eager.hpp"

#include "frameworks/pml/put.hpp"

namespace starling::pml {

using namespace detail;

Post Eager::start(Request& request) noexcept {
  Peer& peer = *request.peer;
  const bool sync = request.mode == Mode::synchronous;
  const std::uint64_t bytes = request.buffer.bytes;
  const std::int64_t cost = cost_of(static_cast<std::size_t>(bytes));
  wire::SyncEnvelope header{envelope_of(request, sync ? wire::Kind::eager_sync : wire::Kind::eager), 0};
  header.envelope.prefix.length = static_cast<std::uint32_t>(bytes);
  Transfer* const transfer = sync ? transfers_.add(request, peer) : nullptr;
  if (sync && transfer == nullptr) {
    complete_send(request, Fault::no_memory);
    return Post::done;
  }
  if (sync) header.sender_id = transfer->id;
  const std::size_t header_bytes = sync ? sizeof(wire::SyncEnvelope) : sizeof(wire::Envelope);
  const Post post = put(*peer.endpoint, wire::bytes_of(header).first(header_bytes), request.buffer, 0,
                        static_cast<std::size_t>(bytes));
  if (post == Post::again) {
    if (sync) transfers_.remove(*transfer);
    return Post::again;
  }
  peer.credit -= cost;
  ++peer.eager_sent;
  peer.eager_bytes_sent += bytes;
  if (sync) {
    request.order = transfer->id;
    request.phase = kAnnounced;
  } else {
    complete_send(request, Fault::none);
  }
  return Post::done;
}

bool Eager::unpack(Buffer& buffer, const std::byte* payload, std::size_t bytes) noexcept {
  if (bytes == 0) return true;  // also where there is no buffer
  if (!place(buffer, bytes)) return false;
  if (buffer.layout != nullptr) {
    buffer.layout->unpack(buffer.base, buffer.count, 0, payload, bytes);
  } else {
    copy_payload(buffer.base, payload, bytes);
  }
  return true;
}

void Eager::return_credit(Peer& peer) noexcept {
  const wire::Prefix header{wire::Kind::credit, 0, 0, static_cast<std::uint32_t>(peer.owed)};
  peer.owed = 0;
  outbox_.answer(peer, wire::bytes_of(header));
}

}  // namespace starling::pml
