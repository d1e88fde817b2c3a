// SPDX-License-Identifier: BSD-3-Clause
// Messages of one window. What is hard: whoever waits for a target has to hear of its death, also where no
// transport tells it. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/part.hpp"

#include <string>
#include <utility>

#include "core/clock.hpp"
#include "mpi/error.hpp"
#include "mpi/error_class.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/onesided/port.hpp"
#include "mpi/onesided/window.hpp"
#include "mpi/request/fate.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi::message {
namespace {

/// Shorter operations go with the message that takes the lock for them.
constexpr std::uint64_t kWorthALock = 16384;

}  // namespace

Part::Part(Win& win) : win_(win), agent_(win, *this) {}

// The window could not be made here, but perhaps on members that have sent something since: they would wait
// for its answer, and nobody else tells them.
Part::~Part() {
  Port::get().remove(win_);
  if (ready_) return;
  for (const auto& [rank, inbox] : inboxes_) Port::get().say_gone(inbox->proc(), win_.comm().id().bits);
}

Part& Part::of(Win& win) noexcept { return *win.part; }

void Part::start() {
  ready_ = true;
  for (const auto& [rank, inbox] : inboxes_) inbox->resume();
}

Channel& Part::to(std::uint32_t rank) {
  if (const auto known = channels_.find(rank); known != channels_.end()) return *known->second;
  auto made = std::make_unique<Channel>(win_, rank);
  Channel& channel = *channels_.emplace(rank, std::move(made)).first->second;
  if (lost(rank)) channel.lose(fate(rank));
  return channel;
}

Channel& Part::for_operation(std::uint32_t rank) {
  settle(rank, "a one-sided operation");  // so that it comes after what the transport does
  return with_lock(rank);
}

Channel& Part::with_lock(std::uint32_t rank) {
  Channel& channel = to(rank);
  const Win::Epochs& epochs = win_.epochs;
  const bool needs_lock = epochs.lock_all && epochs.lock_all_checked && !channel.lock_asked() &&
                          win_.target(rank).seat == Target::kElsewhere;
  if (needs_lock) channel.want_lock(false, false);
  return channel;
}

Inbox& Part::from(std::uint32_t rank) {
  if (const auto known = inboxes_.find(rank); known != inboxes_.end()) return *known->second;
  auto made = std::make_unique<Inbox>(win_, agent_, rank);
  return *inboxes_.emplace(rank, std::move(made)).first->second;
}

/// Losses that only the node's memory tells.
void Part::look() {
  const ProcList& members = *win_.comm().group()->members();
  for (const ProcId dead : Runtime::get()->place().all_dead_among(members)) lose(dead);
  if (const auto dead = Runtime::get()->peers().dead_among(members)) lose(*dead);
}

template <class Ready>
void Part::wait(const char* function, Ready&& ready) {
  if (ready()) return;
  const auto describe = [&] {
    std::string text = std::string(function) + " of " + win_.label();
    for (const auto& [rank, channel] : channels_) {
      if (!channel->done()) text += "; " + channel->describe();
    }
    for (const std::uint32_t rank : native_ != nullptr ? native_->used() : std::vector<std::uint32_t>()) {
      if (!native_->done_here(rank)) text += "; " + win_.label(rank) + ": its transport is at work";
    }
    return text;
  };
  const Waiting waiting(describe);
  std::uint64_t look_ns = now_ns() + kLifeLookNs;
  Runtime::get()->waits().wait([&] {
    if (ready()) return true;
    const std::uint64_t now = now_ns();
    if (now < look_ns) return false;
    look_ns = now + kLifeLookNs;
    look();
    return ready();
  });
}

bool Part::native_done(std::uint32_t rank, bool here) noexcept {
  if (native_ == nullptr) return true;
  return here ? native_->done_here(rank) : native_->settled(rank);
}

/// All that is known of that target, so that nothing is left for a later epoch. The first error.
int Part::take_error(std::uint32_t rank) {
  const bool broke = native_ != nullptr && native_->take_failure(rank);
  if (const auto found = channels_.find(rank); found != channels_.end()) {
    if (const int rc = found->second->take_error(); rc != MPI_SUCCESS) return rc;
  }
  if (!broke) return MPI_SUCCESS;
  return error(fault_class(peer::Fault::peer_lost),
               win_.label(rank) + ": operations cannot be completed: its connection broke");
}

void Part::settle(std::uint32_t rank, const char* function) {
  wait(function, [&] { return native_done(rank, false); });
}

void Part::settle_all(const char* function) {
  if (native_ == nullptr) return;
  for (const std::uint32_t rank : native_->used()) settle(rank, function);
}

Native* Part::native_for(std::uint32_t rank, std::uint64_t bytes) {
  if (native_ == nullptr || win_.target(rank).seat != Target::kElsewhere) return nullptr;
  const Win::Epochs& epochs = win_.epochs;
  const Win::Held held = epochs.held[rank];
  const bool checked = (epochs.lock_all && epochs.lock_all_checked) || held == Win::Held::shared ||
                       held == Win::Held::exclusive;
  // What goes by messages already is not overtaken.
  Channel& channel = with_lock(rank);
  if (channel.lost() || !channel.done()) return nullptr;
  if (!checked || channel.lock_taken()) return native_.get();
  if (bytes < kWorthALock) return nullptr;
  channel.take_lock();
  wait(names::Win_lock, [&] { return channel.lock_taken() || channel.lost(); });
  return channel.lost() ? nullptr : native_.get();
}

int Part::flush(std::uint32_t rank, bool here, const char* function) {
  const auto found = channels_.find(rank);
  if (found == channels_.end()) {
    settle(rank, function);
    return take_error(rank);
  }
  Channel& channel = *found->second;
  wait(function, [&] {
    const bool moved = native_done(rank, here);
    if (here) {
      (void)channel.advance();
      return channel.done_here() && moved;
    }
    channel.ask();
    return channel.done() && moved;
  });
  return take_error(rank);
}

int Part::flush_all(bool here, const char* function) {
  const std::vector<std::uint32_t> natives =
      native_ != nullptr ? native_->used() : std::vector<std::uint32_t>();
  wait(function, [&] {
    bool all = true;
    for (const std::uint32_t rank : natives) all = native_done(rank, here) && all;
    for (const auto& [rank, channel] : channels_) {
      if (here) {
        (void)channel->advance();
      } else {
        channel->ask();
      }
      all = (here ? channel->done_here() : channel->done()) && all;
    }
    return all;
  });
  int first = MPI_SUCCESS;
  std::string detail;
  for (const auto& [rank, channel] : channels_) {  // who is reached by the transport has a channel, too
    const int rc = take_error(rank);
    if (first != MPI_SUCCESS || rc == MPI_SUCCESS) continue;
    first = rc;
    detail = last_error_detail();
  }
  return first == MPI_SUCCESS ? first : error(first, std::move(detail));
}

void Part::drop_locks() {
  for (const auto& [rank, channel] : channels_) channel->drop_lock();
}

/// Why it is lost, as far as that is known: a transport that gives up does not say that a process has ended.
std::string Part::fate(std::uint32_t rank) const { return fate_text(win_.comm(), static_cast<int>(rank)); }

void Part::lose(ProcId proc) noexcept {
  const auto rank = win_.comm().group()->find(proc);
  if (!rank || !lost_.insert(*rank).second) return;
  if (const auto channel = channels_.find(*rank); channel != channels_.end())
    channel->second->lose(fate(*rank));
  if (native_ != nullptr) native_->lose(*rank);
  if (const auto inbox = inboxes_.find(*rank); inbox != inboxes_.end()) inbox->second->lose();
}

void Part::on_gone(std::uint32_t rank) noexcept {
  leaving_.insert(rank);
  if (const auto channel = channels_.find(rank); channel != channels_.end())
    channel->second->lose("it has no such window: it has freed it, or could not make it");
}

void Part::answer_leaving() {
  for (const std::uint32_t rank : leaving_) {
    to(rank).notice(What::leave);
    (void)to(rank).advance();
  }
}

void Part::leave_with_the_living() {
  for (std::uint32_t rank = 0; rank < win_.size(); ++rank) {
    if (rank == win_.rank() || lost(rank)) continue;
    to(rank).notice(What::leave);
    (void)to(rank).advance();
  }
  wait(names::Win_free, [&] {
    for (std::uint32_t rank = 0; rank < win_.size(); ++rank) {
      if (rank != win_.rank() && !lost(rank) && !to(rank).lost() && leaving_.count(rank) == 0) return false;
    }
    return true;
  });
}

void Part::on_granted(std::uint32_t origin) noexcept { from(origin).on_granted(); }

void Part::on_holder_died(std::uint32_t origin, std::uint32_t dead) noexcept {
  from(origin).tell_error(fault_class(peer::Fault::peer_lost),
                          win_.label(win_.rank()) + ": rank " + std::to_string(dead) +
                              " has ended, which held its lock; what it did may be incomplete");
}

}  // namespace starling::mpi::message
