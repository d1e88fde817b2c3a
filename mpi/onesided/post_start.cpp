// SPDX-License-Identifier: BSD-3-Clause
// Post, start, complete, wait. What is hard: members that die. Whoever waits looks now and then at those it
// waits for; the flags say which of them have not done their part. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/post_start.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "core/clock.hpp"
#include "mpi/error.hpp"
#include "mpi/error_class.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/onesided/part.hpp"
#include "mpi/onesided/synchronise.hpp"
#include "mpi/request/fate.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi {
namespace {

using Members = std::vector<std::uint32_t>;

bool elsewhere(const Win& win, std::uint32_t member) noexcept {
  return win.target(member).seat == Target::kElsewhere;
}

void wake(const Win& win, std::uint32_t member) noexcept {
  Runtime::get()->place().segment().ring(win.target(member).local_rank);
}

bool dead(Win& win, std::uint32_t member) noexcept {
  if (elsewhere(win, member)) return message::Part::of(win).look_for(member);
  return !Runtime::get()->place().segment().alive(win.target(member).local_rank);
}

// The flags and counts of both kinds of members: in the control words by seat, or told by messages.

void tell_post(Win& win, std::uint32_t origin) {
  if (elsewhere(win, origin)) {
    message::Part::of(win).exposed(origin) = true;
    message::Channel& channel = message::Part::of(win).to(origin);
    channel.notice(message::What::post);
    (void)channel.advance();
    return;
  }
  win.posts().post(win.target(origin).seat, win.seat());
  wake(win, origin);
}

bool has_posted(Win& win, std::uint32_t target) {
  if (elsewhere(win, target)) return message::Part::of(win).posts(target) > 0;
  return win.posts().posted(win.seat(), win.target(target).seat);
}

/// What was done to the target is complete there before it hears of it.
int tell_complete(Win& win, std::uint32_t target) {
  if (elsewhere(win, target)) {
    message::Part::of(win).settle(target, names::Win_complete);
    --message::Part::of(win).posts(target);
    message::Part::of(win).to(target).notice(message::What::complete);
    return message::Part::of(win).flush(target, false, names::Win_complete);
  }
  const int rc = win.part ? win.part->flush(target, false, names::Win_complete) : MPI_SUCCESS;
  win.posts().complete(win.seat(), win.target(target).seat);
  wake(win, target);
  return rc;
}

/// The origin has not completed this exposure epoch.
bool is_exposed(Win& win, std::uint32_t origin) {
  if (elsewhere(win, origin)) return message::Part::of(win).exposed(origin);
  return win.posts().posted(win.target(origin).seat, win.seat());
}

void end_exposure_to(Win& win, std::uint32_t origin) {
  if (elsewhere(win, origin)) {
    message::Part::of(win).exposed(origin) = false;
  } else {
    win.control().posted(win.target(origin).seat, win.seat()).store(0, std::memory_order_relaxed);
  }
}

/// Those whose completes are counted in the control words.
std::uint64_t seated(const Win& win) noexcept {
  const auto& origins = win.epochs.origins;
  return static_cast<std::uint64_t>(std::count_if(
      origins.begin(), origins.end(), [&](std::uint32_t origin) { return !elsewhere(win, origin); }));
}

std::string listed(const Members& members) {
  std::string text = members.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < members.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == members.size() ? " and " : ", ") + std::to_string(members[i]);
  }
  return text;
}

/// The group's members as ranks of the window.
int ranks_of(const Win& win, const Group& group, Members& ranks) {
  ranks.clear();
  ranks.reserve(group.size());
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    const auto found = win.comm().group()->find(group.at(i));
    if (!found) {
      return error(MPI_ERR_GROUP,
                   win.label() + ": rank " + std::to_string(i) + " of the group is no member of the window");
    }
    ranks.push_back(*found);
  }
  return MPI_SUCCESS;
}

int check_assertion(int assertion, int known, const char* expected) {
  if ((assertion & ~known) == 0) return MPI_SUCCESS;
  return error(MPI_ERR_ASSERT, "assert is " + std::to_string(assertion) + ", expected 0 or " + expected);
}

int wrong(const Win& win, const std::string& why) {
  return error(MPI_ERR_RMA_SYNC, win.label() + ": " + why);
}

/// Of the members of this exposure epoch, those that have not completed.
Members not_completed(Win& win) {
  Members late = win.epochs.origins;
  std::erase_if(late, [&](std::uint32_t origin) { return !is_exposed(win, origin); });
  return late;
}

bool all_completed(Win& win) {
  const Members& origins = win.epochs.origins;
  const bool far = std::any_of(origins.begin(), origins.end(), [&](std::uint32_t origin) {
    return elsewhere(win, origin) && is_exposed(win, origin);
  });
  return !far && win.posts().completed(win.seat()) == win.epochs.completed + seated(win);
}

/// Leaves members out of this exposure epoch that have died before they completed.
void drop_dead(Win& win) {
  const Members late = not_completed(win);
  if (all_completed(win)) return;
  // One may have died between clearing its flag and being counted: then all flags are clear.
  for (const std::uint32_t origin : late.empty() ? Members(win.epochs.origins) : late) {
    if (!dead(win, origin)) continue;
    end_exposure_to(win, origin);
    std::erase(win.epochs.origins, origin);
    win.epochs.lost.push_back(origin);
  }
}

/// The exposure epoch ends, with the count as the next one has to find it.
int end_exposure(Win& win) {
  win.epochs.completed += seated(win);
  win.epochs.origins.clear();
  win.epochs.posted = false;
  const Members lost = std::exchange(win.epochs.lost, {});
  if (lost.empty()) return MPI_SUCCESS;
  std::string text =
      win.label() + ": no MPI_Win_complete of " + listed(lost) + ", what was done may be incomplete";
  for (const std::uint32_t origin : lost) text += "; " + fate_text(win.comm(), static_cast<int>(origin));
  return error(fault_class(peer::Fault::peer_lost), std::move(text));
}

/// Calls look() every 50 ms while ready() is false.
template <class Ready, class Look>
void wait_and_look(Ready&& ready, Look&& look) {
  std::uint64_t next_ns = 0;
  Runtime::get()->waits().wait([&] {
    if (ready()) return true;
    const std::uint64_t now = now_ns();
    if (next_ns == 0) next_ns = now + kLifeLookNs;
    if (now < next_ns) return false;
    next_ns = now + kLifeLookNs;
    look();
    return ready();
  });
}

}  // namespace

int post_exposure(Win& win, const Group& origins, int assertion) {
  const int known = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
  if (const int rc = check_assertion(assertion, known, "some of MPI_MODE_NOCHECK, NOSTORE, NOPUT");
      rc != MPI_SUCCESS)
    return rc;
  Win::Epochs& epochs = win.epochs;
  if (epochs.posted) return wrong(win, "MPI_Win_post has been called already, and MPI_Win_wait not");
  const Win::Held own = epochs.held[win.rank()];
  if (epochs.lock_all || (own >= Win::Held::pending && own != Win::Held::started))
    return wrong(win, "this process has locked its own part, which cannot be exposed as well");
  Members ranks;
  if (const int rc = ranks_of(win, origins, ranks); rc != MPI_SUCCESS) return rc;
  if (const int rc = check_fence(win); rc != MPI_SUCCESS) return rc;
  epochs.origins = std::move(ranks);
  epochs.posted = true;
  if (win.overlaps) win.overlaps->exposed();
  for (const std::uint32_t origin : epochs.origins) tell_post(win, origin);
  return MPI_SUCCESS;
}

int start_access(Win& win, const Group& targets, int assertion) {
  if (const int rc = check_assertion(assertion, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK"); rc != MPI_SUCCESS)
    return rc;
  Win::Epochs& epochs = win.epochs;
  if (epochs.started) return wrong(win, "MPI_Win_start has been called already, and MPI_Win_complete not");
  if (epochs.lock_all || epochs.locks != 0) return wrong(win, "some target is locked, and not yet unlocked");
  Members ranks;
  if (const int rc = ranks_of(win, targets, ranks); rc != MPI_SUCCESS) return rc;
  if (const int rc = check_fence(win); rc != MPI_SUCCESS) return rc;
  epochs.targets = std::move(ranks);
  epochs.started = true;
  const Win::Held held = (assertion & MPI_MODE_NOCHECK) != 0 ? Win::Held::started : Win::Held::awaited;
  for (const std::uint32_t target : epochs.targets) epochs.held[target] = held;
  // Unchecked: all have posted, and what they wrote before is to be seen.
  if (held == Win::Held::started) {
    for (const std::uint32_t target : epochs.targets) (void)has_posted(win, target);
  }
  return MPI_SUCCESS;
}

int await_post(Win& win, std::uint32_t target) {
  if (win.epochs.held[target] != Win::Held::awaited) return no_epoch(win, target);
  const auto describe = [&] { return win.label(target) + ": waits for its MPI_Win_post"; };
  const Waiting waiting(describe);
  bool posted = false, lost = false;
  wait_and_look([&] { return (posted = has_posted(win, target)) || lost; },
                [&] { lost = dead(win, target); });
  if (!posted) {
    return error(fault_class(peer::Fault::peer_lost), win.label(target) + ": waited for its MPI_Win_post: " +
                                                          fate_text(win.comm(), static_cast<int>(target)));
  }
  win.epochs.held[target] = Win::Held::started;
  return MPI_SUCCESS;
}

int complete_access(Win& win) {
  Win::Epochs& epochs = win.epochs;
  if (!epochs.started) return wrong(win, "MPI_Win_start has not been called");
  std::atomic_thread_fence(std::memory_order_acq_rel);
  int rc = MPI_SUCCESS;
  std::string detail;
  for (const std::uint32_t target : epochs.targets) {
    // Else the target would count this for an epoch that it has not begun.
    const bool met = epochs.held[target] == Win::Held::started || await_post(win, target) == MPI_SUCCESS;
    const int ended = met ? tell_complete(win, target) : fault_class(peer::Fault::peer_lost);
    if (rc == MPI_SUCCESS && ended != MPI_SUCCESS) {
      rc = ended;
      detail = last_error_detail();
    }
    epochs.held[target] = Win::Held::nothing;
  }
  epochs.targets.clear();
  epochs.started = false;
  return rc == MPI_SUCCESS ? rc : error(rc, detail);
}

int wait_exposure(Win& win) {
  if (!win.epochs.posted) return wrong(win, "MPI_Win_post has not been called");
  const auto describe = [&] {
    return std::string(names::Win_wait) + " of " + win.label() + ": waits for " + names::Win_complete +
           " of " + listed(not_completed(win));
  };
  const Waiting waiting(describe);
  wait_and_look([&] { return all_completed(win); }, [&] { drop_dead(win); });
  return end_exposure(win);
}

int test_exposure(Win& win, bool& flag) {
  flag = false;
  if (!win.epochs.posted) return wrong(win, "MPI_Win_post has not been called");
  const auto completed = [&] { return all_completed(win); };
  if (!completed() && !Runtime::get()->waits().poll_until(names::Win_test, completed)) {
    const std::uint64_t now = now_ns();
    if (now < win.epochs.next_look_ns) return MPI_SUCCESS;
    win.epochs.next_look_ns = now + kLifeLookNs;
    drop_dead(win);
    if (!all_completed(win)) return MPI_SUCCESS;
  }
  flag = true;
  return end_exposure(win);
}

}  // namespace starling::mpi
