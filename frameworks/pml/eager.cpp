// SPDX-License-Identifier: BSD-3-Clause
// Eager messages that are packed or answered, and the credit's way back.
#include "frameworks/pml/eager.hpp"

#include "frameworks/pml/put.hpp"

namespace starling::pml {

using namespace detail;

namespace {

/// A send whose memory the transport reads.
struct Borrowed : btl::Completion {
  Borrowed(TransferTable& in_table, Transfer& of_send) noexcept : table(in_table), send(of_send) {
    done = [](btl::Completion* self, bool ok) noexcept { static_cast<Borrowed*>(self)->end(ok); };
  }
  void end(bool ok) noexcept {
    Request& request = *send.request;
    const Fault fault = ok ? Fault::none : fault_of(*send.peer);
    table.remove(send);  // and this with it
    complete_send(request, fault);
  }
  TransferTable& table;
  Transfer& send;
};

}  // namespace

Post Eager::start(Request& request) noexcept {
  Peer& peer = *request.peer;
  const bool sync = request.mode == Mode::synchronous;
  const std::uint64_t bytes = request.buffer.bytes;
  const std::int64_t cost = cost_of(static_cast<std::size_t>(bytes));
  wire::SyncEnvelope header{envelope_of(request, sync ? wire::Kind::eager_sync : wire::Kind::eager), 0};
  header.envelope.prefix.length = static_cast<std::uint32_t>(bytes);
  if (!sync && peer.sends_from(request, static_cast<std::size_t>(bytes)))
    return start_from(request, header.envelope);
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

Post Eager::start_from(Request& request, const wire::Envelope& header) noexcept {
  Peer& peer = *request.peer;
  const std::uint64_t bytes = request.buffer.bytes;
  Transfer* const transfer = transfers_.add(request, peer);
  if (transfer == nullptr) {
    complete_send(request, Fault::no_memory);
    return Post::done;
  }
  auto& borrowed = transfer->make_state<Borrowed>(transfers_, *transfer);
  transfer->borrowed = true;
  request.phase = kMoving;
  const Post post = peer.endpoint->send_from(
      wire::bytes_of(header),
      {static_cast<const std::byte*>(request.buffer.base), static_cast<std::size_t>(bytes)}, &borrowed);
  if (post != Post::posted) transfers_.remove(*transfer);
  if (post == Post::again) {
    request.phase = kQueued;
    return Post::again;
  }
  peer.credit -= cost_of(static_cast<std::size_t>(bytes));
  ++peer.eager_sent;
  peer.eager_bytes_sent += bytes;
  if (post == Post::done) complete_send(request, Fault::none);
  return Post::done;
}

void Eager::return_credit(Peer& peer) noexcept {
  const wire::Prefix header{wire::Kind::credit, 0, 0, static_cast<std::uint32_t>(peer.owed)};
  peer.credit_given += header.length;
  peer.owed = 0;
  outbox_.answer(peer, wire::bytes_of(header));
}

}  // namespace starling::pml
