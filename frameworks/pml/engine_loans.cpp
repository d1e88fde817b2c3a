// SPDX-License-Identifier: BSD-3-Clause
// Long messages between two processes that send to each other at the same time: the sender lends its pages,
// the receiver copies them (loan.hpp). What is hard: the pipe knows no messages. So what is lent, announced
// and taken must be in one order, and whatever is announced is taken, also when nobody wants it any more.
#include <algorithm>

#include "core/clock.hpp"
#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

namespace {

constexpr std::size_t kPipeBytes = 1024 * 1024;
/// Lent and not taken at most. Half of the pipe, since a slot may hold a part of a page.
constexpr std::size_t kWindowBytes = kPipeBytes / 2;
/// Lent at a time, and copied before other messages are looked at again.
constexpr std::size_t kPieceBytes = 256 * 1024;

}  // namespace

/// Tells a peer that sends to us while we send to it where our pages can be borrowed.
void Engine::offer_loan(Peer& peer) noexcept {
  peer.loan_asked = true;
  if (config_.loans == 0 || peer.proc == config_.self || !policy_->lends(peer)) return;
  auto made = Lender::create(kPipeBytes);
  if (!made) {
    counters_.notes.push_back("no pages are lent to rank " + std::to_string(peer.proc.rank) + ": " +
                              made.error().text());
    config_.loans = 0;
    return;
  }
  --config_.loans;
  peer.lender = std::make_unique<Lender>(std::move(*made));
  const LoanAddress at = peer.lender->address();
  const wire::Loan header{{wire::Kind::lender, 0, 0, 0}, at.pid, at.descriptor, at.inode};
  answer(peer, wire::bytes_of(header));
}

void Engine::on_lender(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Loan header;
  if (!wire::read(message, header) || peer.borrower != nullptr) {
    malformed(peer, "an offer of pages that makes no sense");
    return;
  }
  if (peers_.connect(peer) != Contact::made || !policy_->lends(peer)) return;
  auto opened = Borrower::open({header.pid, header.descriptor, header.inode});
  if (opened) {
    peer.borrower = std::make_unique<Borrower>(std::move(*opened));
  } else {
    counters_.notes.push_back("no pages are borrowed from rank " + std::to_string(peer.proc.rank) + ": " +
                              opened.error().text());
  }
}

bool Engine::can_get(const Peer& peer, const Request& request) const noexcept {
  return request.address != 0 && !peer.get_failed && policy_->gets(peer) && peer.endpoint->can_get();
}

/// How a receive gets its data whose both sides are contiguous, as things stand.
LargeChoice Engine::way_of(Peer& peer, const Request& request) noexcept {
  const bool can_get = this->can_get(peer, request);
  if (peer.long_sends != 0) {
    peer.both_ways = true;
    const LargeChoice both = policy_->choose({peer, request.total, true, can_get});
    if (both.way == Large::lend && !peer.loan_asked) offer_loan(peer);
    if (both.way != Large::lend || peer.borrower != nullptr) return both;
  }
  return policy_->choose({peer, request.total, false, can_get});
}

/// Who receives first and sends then has not sent yet when a message is found that came early.
bool Engine::may_turn_out_both(const Peer& peer, const Request& request) const noexcept {
  if (peer.long_sends != 0 || !(peer.both_ways || peer.borrower != nullptr)) return false;
  const bool can_get = this->can_get(peer, request);
  return policy_->choose({peer, request.total, true, can_get}).way !=
         policy_->choose({peer, request.total, false, can_get}).way;
}

int Engine::decide(Peer& peer) noexcept {
  int events = 0;
  while (Request* const request = peer.undecided.pop_front()) {
    begin_transfer(*request, peer);
    ++events;
  }
  return events;
}

/// The way is chosen now.
void Engine::begin_transfer(Request& request, Peer& peer) noexcept {
  const LargeChoice chosen = way_of(peer, request);
  request.trial = chosen.trial;
  if (chosen.trial != 0) request.begun_ns = now_ns();
  if (chosen.way == Large::get) {
    request.phase = kGetting;
    gets_.push_back(std::make_unique<Get>());
    gets_.back()->request = &request;
  } else {
    ask_for_data(request, chosen.way == Large::lend ? wire::kLend : std::uint8_t{0});
  }
}

/// A receive whose time was asked for has all its data.
void Engine::end_trial(Request& request) noexcept {
  Peer& peer = *request.peer;
  const std::uint64_t now = now_ns();
  policy_->took(request.trial, request.total, now - std::max(request.begun_ns, peer.trial_end_ns));
  peer.trial_end_ns = now;
  request.trial = 0;
}

/// Lends another piece; false: the window or the pipe is full.
bool Engine::push_loan(Peer& peer, Request& request) noexcept {
  Lender& lender = *peer.lender;
  if (lender.unread >= kWindowBytes) return false;
  const std::uint64_t rest = request.total - request.moved;
  const auto wanted = static_cast<std::size_t>(rest < 3 * kPieceBytes / 2 ? rest : kPieceBytes);
  const auto* const from = static_cast<const std::byte*>(request.buffer.base) + request.moved;
  const std::size_t lent = lender.lend({from, std::min(wanted, kWindowBytes - lender.unread)});
  if (lent == 0) return false;
  request.moved += lent;
  const wire::Data header{{wire::Kind::lent, 0, 0, static_cast<std::uint32_t>(lent)}, request.remote};
  if (request.moved == request.total) {
    peer.pushing.remove(request);
    request.phase = kAnnounced;  // its fin comes when all has been taken
  }
  answer(peer, wire::bytes_of(header));
  return true;
}

void Engine::on_lent(Peer& peer, std::span<const std::byte> message) noexcept {
  wire::Data header;
  if (!wire::read(message, header)) return malformed(peer, "an announcement of pages is too short");
  const std::size_t bytes = header.prefix.length;
  Request* const request = transfer(peer, header.receiver_id);
  if (request == nullptr || !request->receive || request->phase != kReceiving ||
      request->buffer.layout != nullptr || bytes > request->total - request->moved) {
    malformed(peer, "pages that nobody borrows");
    if (peer.borrower != nullptr && !peer.borrower->discard(bytes)) peer.borrower.reset();
    return;
  }
  auto* const to = static_cast<std::byte*>(request->buffer.base) + request->moved;
  const bool whole = peer.borrower != nullptr && peer.borrower->take({to, bytes});
  if (whole) {
    request->moved += bytes;
  } else {
    peer.borrower.reset();  // whatever comes is out of step
  }
  if (whole && request->moved < request->total) {
    const wire::Prefix taken{wire::Kind::taken, 0, 0, static_cast<std::uint32_t>(bytes)};
    answer(peer, wire::bytes_of(taken));
    return;
  }
  const wire::Answer fin{{wire::Kind::fin, wire::kGot, 0, static_cast<std::uint32_t>(bytes)},
                         request->remote};
  answer(peer, wire::bytes_of(fin));
  finish_receive(*request, whole ? Fault::none : Fault::internal);
}

void Engine::on_taken(Peer& peer, std::size_t bytes) noexcept {
  if (peer.lender == nullptr || bytes > peer.lender->unread) {
    malformed(peer, "it has taken more than was lent");
    return;
  }
  peer.lender->unread -= bytes;
}

}  // namespace starling::pml
