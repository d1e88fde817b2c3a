// SPDX-License-Identifier: BSD-3-Clause
/// @file  The executor. Hard part: a fault in the middle must leave no request that the pml still knows.

#include "mpi/coll/execution.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

namespace starling::mpi::coll {

namespace {

bool too_short(const pml::Request& request) noexcept {
  return request.receive && request.status.bytes != request.buffer.bytes;
}

/// Bytes of a message; of one that was longer than its receive at least those.
std::uint64_t sent_bytes(const pml::Request& request) noexcept {
  const bool longer = request.status.fault == pml::Fault::truncated;
  return longer ? std::max(request.total, request.status.bytes) : request.status.bytes;
}

/// A notice comes in place of a message of `expected` bytes. Two primes: no vector of numbers has such a
/// length.
constexpr std::size_t kNoticeBytes = 251, kOtherNoticeBytes = 241;
constexpr std::byte kNotice[kNoticeBytes] = {};
constexpr std::size_t notice_bytes(std::uint64_t expected) noexcept {
  return expected == kNoticeBytes ? kOtherNoticeBytes : kNoticeBytes;
}

}  // namespace

void copy_buffer(const Buffer& from, const Buffer& to) noexcept {
  const std::uint64_t bytes = std::min(from.bytes, to.bytes);
  if (bytes == 0) return;
  if (from.layout == nullptr && to.layout == nullptr) {
    std::memmove(to.base, from.base, bytes);
  } else if (to.layout == nullptr) {
    from.layout->pack(from.base, from.count, 0, static_cast<std::byte*>(to.base), bytes);
  } else if (from.layout == nullptr) {
    to.layout->unpack(to.base, to.count, 0, static_cast<const std::byte*>(from.base), bytes);
  } else {
    alignas(64) std::byte window[8192];  // stays in the first cache level
    for (std::uint64_t at = 0; at < bytes; at += sizeof window) {
      const std::size_t part = std::min<std::uint64_t>(sizeof window, bytes - at);
      from.layout->pack(from.base, from.count, at, window, part);
      to.layout->unpack(to.base, to.count, at, window, part);
    }
  }
}

void Execution::start(const Port& port) noexcept {
  if (!schedule.ok() && !schedule.knows_messages()) [[unlikely]]
    return abandon(port, -1);
  reset(port);
  advance();
}

void Execution::start_worthless(const Port& port) noexcept {
  reset(port);
  fault_ = pml::Fault::truncated;
  advance();
}

void Execution::abandon(const Port& port, int gone) noexcept {
  reset(port);
  if (!hollow_) fault_ = pml::Fault::peer_lost;
  faulty_peer_ = gone;
  abandoned_ = round_begun_ = true;
  send_notices(0);
  advance();
}

void Execution::reset(const Port& port) noexcept {
  port_ = port;
  if (capacity_ < schedule.most_messages()) {
    capacity_ = std::max(schedule.most_messages(), 4u);
    requests_ = std::make_unique<pml::Request[]>(capacity_);
  }
  posted_ = finished_ = looked_ = round_ = 0;
  round_begun_ = has_special_ = abandoned_ = complete_ = told_of_loss_ = false;
  hollow_ = !schedule.ok();
  fault_ = hollow_ ? pml::Fault::no_memory : pml::Fault::none;
  faulty_peer_ = -1;
  lengths_ = {};
  notices_.clear();
}

std::string Execution::state() const {
  constexpr int kMostRanks = 8;
  std::string text =
      "round " + std::to_string(round_ + 1) + " of " + std::to_string(schedule.rounds().size());
  int named = 0;
  for (std::uint32_t i = finished_; i < posted_; ++i) {
    const pml::Request& request = requests_[i];
    if (request.complete.load(std::memory_order_acquire)) continue;
    if (++named > kMostRanks) continue;
    text += named == 1 ? ", waits for rank " : ", ";
    text += std::to_string(to_int(request.rank));
    if (!request.receive) text += " to receive";
    // Ranks that disagree about a length may wait for each other.
    if (request.buffer.bytes != 0) text += " (" + std::to_string(request.buffer.bytes) + " bytes)";
  }
  if (named > kMostRanks) text += " and " + std::to_string(named - kMostRanks) + " more";
  return text;
}

bool Execution::advance() noexcept {
  if (complete_) return true;
  const auto rounds = static_cast<std::uint32_t>(schedule.rounds().size());
  while (round_ < rounds) {
    if (!round_begun_) begin_round();
    if (!round_over()) return false;  // also after a fault: the pml still knows the requests of this round
    if (abandoned_) {
      if (!notices_sent()) return false;
      break;
    }
    round_begun_ = false;
    ++round_;
  }
  complete_ = true;
  return true;
}

void Execution::begin_round() noexcept {
  const Schedule::Round round = schedule.rounds()[round_];
  const Schedule::Step* const steps = schedule.steps().data();
  posted_ = finished_ = 0;
  has_special_ = false;
  round_begun_ = true;
  const bool local = round.messages < round.end - round.begin;
  if (round.messages != 0) {
    for (std::uint32_t i = round.begin; i < round.end; ++i) {
      const bool nothing = steps[i].none();
      if (steps[i].what == Schedule::Do::receive && !nothing) post_receive(steps[i]);
      if (steps[i].what == Schedule::Do::send && !nothing) post_send(steps[i]);
    }
  }
  if (!local) return;
  for (std::uint32_t i = round.begin; i < round.end; ++i) {
    if (steps[i].what == Schedule::Do::special) {
      waiting_special_ = i;
      has_special_ = true;
      steps[i].special->start(to_int(port_.tag));
    } else {
      run_local(steps[i]);
    }
  }
}

bool Execution::round_over() noexcept {
  while (finished_ < posted_) {
    pml::Request& request = requests_[finished_];
    if (!request.complete.load(std::memory_order_acquire)) {
      look_behind();
      if (!request.complete.load(std::memory_order_acquire)) return false;
    }
    if (request.status.fault != pml::Fault::none || request.status.cancelled || too_short(request))
        [[unlikely]] {
      note_fault(request);
      // Nobody has received it, and the peer waits for it.
      if (abandoned_ && !request.receive && request.status.cancelled && schedule.composed())
        send_notice(to_int(request.rank), request.buffer.bytes);
    }
    ++finished_;
  }
  if (has_special_) {
    if (!schedule.steps()[waiting_special_].special->advance()) return false;
    has_special_ = false;
  }
  return true;
}

pml::Request& Execution::fresh_request() noexcept {
  pml::Request& request = requests_[posted_++];
  prepare(request);
  return request;
}

void Execution::prepare(pml::Request& request) const noexcept {
  request.complete.store(false, std::memory_order_relaxed);
  request.status = {};
  request.context = port_.context;
  request.tag = port_.tag;
  request.mode = pml::Mode::standard;
  request.next = request.previous = nullptr;
  request.peer = nullptr;
  request.order = request.total = 0;
  request.phase = request.flags = 0;
  request.started_ns = 0;
}

void Execution::post_send(const Schedule::Step& step) noexcept {
  const bool worthless =
      !step.lengths && (hollow_ || (fault_ == pml::Fault::truncated && !schedule.direct() && !step.always));
  const Buffer what = worthless ? Buffer{} : step.from;
  if (what.layout == nullptr &&
      port_.pml->try_send(*port_.context, Rank{step.peer}, port_.tag, what.base, what.bytes) == Post::done) {
    return;
  }
  pml::Request& request = fresh_request();
  request.buffer = what;
  request.rank = Rank{step.peer};
  request.receive = false;
  port_.pml->isend(request);
}

void Execution::post_receive(const Schedule::Step& step) noexcept {
  pml::Request& request = fresh_request();
  request.buffer = hollow_ && !step.lengths ? Buffer{} : step.to;
  request.rank = Rank{step.peer};
  request.receive = true;
  port_.pml->irecv(request);
}

void Execution::run_work(const Schedule::Step& step) noexcept {
  try {
    schedule.work(step.count)(schedule);
  } catch (const std::exception&) {  // no memory for what members have asked for
    if (fault_ == pml::Fault::none) fault_ = pml::Fault::no_memory;
    hollow_ = true;
    if (!schedule.settled()) give_up();
  }
}

void Execution::run_local(const Schedule::Step& step) noexcept {
  if (step.what == Schedule::Do::work) {
    if (step.always || fault_ == pml::Fault::none) run_work(step);
    return;
  }
  if (hollow_) [[unlikely]]
    return;
  if (fault_ != pml::Fault::none && !schedule.direct() && !step.always) [[unlikely]]
    return;  // a user's function is to see no operand that has not come
  if (step.what == Schedule::Do::copy) {
    copy_buffer(step.from, step.to);
    if (step.from.bytes != step.to.bytes && fault_ == pml::Fault::none) [[unlikely]] {
      fault_ = pml::Fault::truncated;
      lengths_ = {step.from.bytes, step.to.bytes};
    }
  } else if (step.what == Schedule::Do::reduce) {
    const Operator& operation = schedule.operation();
    operation.apply(operation, step.from.base, step.to.base, step.to.base, step.count,
                    schedule.reduced_type());
  }
}

void Execution::note_fault(const pml::Request& request) noexcept {
  const bool first = fault_ == pml::Fault::none;
  const std::uint64_t sent = sent_bytes(request);
  const bool notice =
      schedule.composed() && !(hollow_ && request.buffer.bytes == 0) && request.receive &&
      !request.status.cancelled &&
      (request.status.fault == pml::Fault::none || request.status.fault == pml::Fault::truncated) &&
      sent == notice_bytes(request.buffer.bytes);
  // Cancelled by the pml: another member has died, so that this message would never be received.
  const pml::Fault why = notice                                     ? pml::Fault::peer_lost
                         : request.status.fault != pml::Fault::none ? request.status.fault
                         : request.status.cancelled                 ? pml::Fault::peer_lost
                                                                    : pml::Fault::truncated;
  if (first) {
    fault_ = why;
    told_of_loss_ = notice;
    lengths_ = {sent, request.buffer.bytes};
    const bool said = peer_gone(why) && (request.receive || request.status.cancelled);
    faulty_peer_ = to_int(said ? request.status.source : request.rank);
    if (notice) faulty_peer_ = to_int(request.rank);
  }
  if (why != pml::Fault::truncated && !abandoned_) give_up();
}

// Its peer may wait for this message and never send what the first request waits for. One request a look:
// there may be as many as members.
void Execution::look_behind() noexcept {
  if (abandoned_ || posted_ - finished_ < 2) return;
  ++looked_;
  if (looked_ <= finished_ || looked_ >= posted_) looked_ = finished_ + 1;
  const pml::Request& request = requests_[looked_];
  if (!request.complete.load(std::memory_order_acquire)) return;
  const pml::Fault fault = request.status.fault;
  if (fault != pml::Fault::none && fault != pml::Fault::truncated) [[unlikely]]
    note_fault(request);
}

void Execution::give_up() noexcept {
  abandoned_ = true;
  for (std::uint32_t i = finished_; i < posted_; ++i) {
    if (!requests_[i].complete.load(std::memory_order_acquire)) port_.pml->cancel(requests_[i]);
  }
  if (schedule.composed()) send_notices(round_ + 1);
}

void Execution::send_notices(std::uint32_t from_round) noexcept {
  for (std::uint32_t round = from_round; round < schedule.rounds().size(); ++round) {
    for (std::uint32_t i = schedule.rounds()[round].begin; i < schedule.rounds()[round].end; ++i) {
      const Schedule::Step& step = schedule.steps()[i];
      if (step.what == Schedule::Do::send && !step.none()) send_notice(step.peer, step.from.bytes);
    }
  }
}

void Execution::send_notice(int peer, std::uint64_t expected) noexcept {
  if (peer == faulty_peer_) return;
  const std::size_t bytes = notice_bytes(expected);
  if (port_.pml->try_send(*port_.context, Rank{peer}, port_.tag, kNotice, bytes) == Post::done) return;
  pml::Request& request = *notices_.emplace_back(std::make_unique<pml::Request>());
  prepare(request);
  request.buffer = packed(const_cast<std::byte*>(kNotice), bytes);
  request.rank = Rank{peer};
  request.receive = false;
  port_.pml->isend(request);
}

bool Execution::notices_sent() const noexcept {
  return std::all_of(notices_.begin(), notices_.end(), [](const std::unique_ptr<pml::Request>& request) {
    return request->complete.load(std::memory_order_acquire);
  });
}

}  // namespace starling::mpi::coll
