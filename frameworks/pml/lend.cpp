// SPDX-License-Identifier: BSD-3-Clause
// What is hard: the pipe knows no messages, and a lent byte that nobody copies would stand in front of all
// others.
#include "frameworks/pml/lend.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "frameworks/pml/rendezvous.hpp"

namespace starling::pml {

using Stage = Transfer::Stage;

/// What is known of a peer that lends to us or borrows from us.
struct Lend::Pair final : ProtocolState {
  bool asked = false;      // we have told it how to borrow from us, or cannot
  bool lends = false;      // we lend to it
  bool borrows = false;    // it lends to us
  std::size_t unread = 0;  // lent to it and not yet copied, as far as it has told
};

const Protocol::Facts& Lend::facts() const noexcept {
  static constexpr std::array kKinds{wire::Kind::lender, wire::Kind::lent, wire::Kind::taken,
                                     wire::Kind::borrow};
  static constexpr Facts kFacts{
      .name = "lend", .kinds = kKinds, .contiguous = true, .steps = false, .pushes = false};
  return kFacts;
}

Lend::Pair* Lend::pair(Peer& peer) const noexcept {
  return static_cast<Pair*>(rendezvous_->with(peer, number_).state.get());
}

Lend::Pair* Lend::make_pair(Peer& peer) noexcept {
  auto& state = rendezvous_->with(peer, number_).state;
  if (state == nullptr) state.reset(new (std::nothrow) Pair);
  return static_cast<Pair*>(state.get());
}

bool Lend::possible(const Transfer& receive) noexcept { return receive.peer->endpoint->loans() != nullptr; }

bool Lend::ready(const Transfer& receive) const noexcept {
  const Pair* const known = pair(*receive.peer);
  return known != nullptr && known->borrows;
}

/// A process that first sees long messages in both directions tells the peer how to borrow from it; the peer
/// tells it likewise.
void Lend::prepare(Peer& peer) noexcept {
  Pair* const known = make_pair(peer);
  btl::Loans* const loans = peer.endpoint != nullptr ? peer.endpoint->loans() : nullptr;
  if (known == nullptr || known->asked || loans == nullptr) return;
  known->asked = true;
  if (peers_left_ == 0) return;
  wire::Lender header{{wire::Kind::lender, 0, 0, 0}, {}};
  try {
    const auto offer = loans->offer();
    if (!offer) {
      rendezvous_->said().add("no pages are lent to ", peer.proc, ": ", offer.error().text());
      peers_left_ = 0;
      return;
    }
    std::copy_n(offer->words, std::size(header.words), header.words);
  } catch (const std::bad_alloc&) {
    return;
  }
  --peers_left_;
  known->lends = true;
  rendezvous_->answer(peer, wire::bytes_of(header));
}

void Lend::on_lender(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Lender header;
  Pair* const known = make_pair(peer);
  if (known == nullptr) return;  // then it lends for nothing: nobody asks for it
  if (!wire::read(message, header) || known->borrows) {
    return rendezvous_->malformed(peer, "an offer of pages that makes no sense");
  }
  btl::Loans* const loans = rendezvous_->connected(peer) ? peer.endpoint->loans() : nullptr;
  if (loans == nullptr) return;
  peer.large.both_ways = true;
  btl::LoanOffer offer;
  std::copy_n(header.words, std::size(header.words), offer.words);
  try {
    const auto opened = loans->accept(offer);
    known->borrows = opened.has_value();
    if (!opened) {
      rendezvous_->said().add("no pages are borrowed from ", peer.proc, ": ", opened.error().text());
    }
  } catch (const std::bad_alloc&) {
  }
}

void Lend::accept(Transfer& receive) noexcept {
  prepare(*receive.peer);
  const wire::Cts header{{wire::Kind::borrow, 0, 0, 0},
                         receive.remote,
                         receive.id,
                         receive.moved,
                         receive.total - receive.moved};
  rendezvous_->answer(*receive.peer, wire::bytes_of(header));
}

void Lend::on_message(Peer& peer, std::span<const std::byte> message) noexcept {
  switch (static_cast<wire::Kind>(message.front())) {
    case wire::Kind::lender: return on_lender(peer, message);
    case wire::Kind::borrow: return on_borrow(peer, message);
    case wire::Kind::lent: return on_lent(peer, message);
    default: return on_taken(peer, message);
  }
}

void Lend::on_borrow(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Cts header;
  const bool whole = wire::read(message, header);
  const Transfer* const known = whole ? rendezvous_->find(peer, header.sender_id) : nullptr;
  if (whole && (known == nullptr || known->receive)) return;
  const std::uint64_t length = whole ? known->request->buffer.bytes : 0;
  const Pair* const lending = pair(peer);
  if (!whole || lending == nullptr || !lending->lends || !known->contiguous || header.offset > length ||
      header.bytes > length - header.offset || header.bytes == 0) {
    return rendezvous_->malformed(peer, "it wants to borrow what is not lent");
  }
  Transfer* const send = rendezvous_->take_announced(peer, header.sender_id, number_);
  if (send == nullptr) return;
  send->remote = header.receiver_id;
  send->moved = header.offset;
  send->total = header.offset + header.bytes;
  rendezvous_->queue(*send);
}

int Lend::push(Peer& peer) noexcept {
  // In turns: the borrower may hold what both use while it copies, and who lends meanwhile waits for it.
  if (pair(peer)->unread != 0) return 0;
  TransferChain& queue = rendezvous_->with(peer, number_).queue;
  int events = 0;
  for (std::uint32_t lent = 0; lent < pieces_ && !queue.empty() && lend(*queue.front()); ++lent) ++events;
  return events;
}

/// Lends another piece; false: the window is full, or the pipe is.
bool Lend::lend(Transfer& send) noexcept {
  Peer& peer = *send.peer;
  Pair& known = *pair(peer);
  btl::Loans& loans = *peer.endpoint->loans();
  const btl::Loans::Limits limits = loans.limits();
  if (known.unread >= limits.window_bytes) return false;
  const std::uint64_t rest = send.total - send.moved;
  const std::size_t piece = limits.piece_bytes;
  const auto wanted = static_cast<std::size_t>(rest < 3 * piece / 2 ? rest : piece);
  const auto* const from = static_cast<const std::byte*>(send.request->buffer.base) + send.moved;
  const std::size_t lent = loans.lend({from, std::min(wanted, limits.window_bytes - known.unread)});
  if (lent == 0) return false;
  known.unread += lent;
  send.moved += lent;
  if (send.moved == send.total) {
    rendezvous_->unqueue(send);
    send.stage = Stage::settling;
  }
  const wire::Data header{{wire::Kind::lent, 0, 0, static_cast<std::uint32_t>(lent)}, send.remote};
  rendezvous_->answer(peer, wire::bytes_of(header));
  return true;
}

void Lend::on_lent(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Data header;
  if (!wire::read(message, header))
    return rendezvous_->malformed(peer, "an announcement of pages is too short");
  const std::size_t bytes = header.prefix.length;
  Pair* const known = pair(peer);
  const auto tell_taken = [&](std::uint64_t ended_sender) {
    const wire::Answer taken{{wire::Kind::taken, 0, 0, static_cast<std::uint32_t>(bytes)}, ended_sender};
    rendezvous_->answer(peer, wire::bytes_of(taken));
  };
  Transfer* const receive = rendezvous_->receiving(peer, header.receiver_id, number_);
  if (receive == nullptr || bytes > receive->total - receive->moved) {
    // The rest of a message that could not be borrowed is no nonsense.
    if (known == nullptr || known->borrows) rendezvous_->malformed(peer, "pages that nobody borrows");
    if (known == nullptr) return;
    if (known->borrows) known->borrows = peer.endpoint->loans()->discard(bytes);
    return tell_taken(0);  // or nothing more is lent
  }
  auto* const to = static_cast<std::byte*>(receive->request->buffer.base) + receive->moved;
  const bool whole = known != nullptr && known->borrows && peer.endpoint->loans()->borrow({to, bytes});
  if (whole) receive->moved += bytes;
  if (known != nullptr && !whole) known->borrows = false;  // whatever comes is out of step
  const bool last = !whole || receive->moved == receive->total;
  tell_taken(last ? receive->remote : 0);
  if (last) rendezvous_->finish(*receive, whole ? Fault::none : Fault::internal);
}

void Lend::on_taken(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Answer header;
  Pair* const known = pair(peer);
  if (!wire::read(message, header) || known == nullptr || header.prefix.length > known->unread) {
    return rendezvous_->malformed(peer, "it has taken more than was lent");
  }
  known->unread -= header.prefix.length;
  Transfer* const send = rendezvous_->find(peer, header.sender_id);
  if (send == nullptr || send->receive || send->number != number_ || send->stage == Stage::announced) return;
  rendezvous_->count(*send, send->request->buffer.bytes);
  rendezvous_->finish(*send, Fault::none);
}

void Lend::lose(Peer& peer) noexcept {
  if (pair(peer) != nullptr && peer.endpoint != nullptr && peer.endpoint->loans() != nullptr) {
    peer.endpoint->loans()->close();
  }
}

}  // namespace starling::pml
