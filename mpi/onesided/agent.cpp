// SPDX-License-Identifier: BSD-3-Clause
// Locks for others. What is hard: it may not wait, so each pass tries again what stands at the head of its
// queue. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/agent.hpp"

#include <algorithm>

#include "core/clock.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi::message {

Agent::~Agent() {
  take_back();
  Runtime::get()->polling().remove(*this);
}

LockPlace Agent::target_place() const noexcept {
  const Control& control = win_.control();
  return {control.target_lock(win_.seat(), control.target_agent(), win_.epochs.takings), win_.seat()};
}
LockPlace Agent::node_place() const noexcept {
  return {win_.control().node_lock(win_.control().node_agent(win_.seat()), win_.epochs.takings)};
}

void Agent::granted(const Wanted& wanted) noexcept {
  ++win_.epochs.takings;
  if (wanted.exclusive) {
    exclusive_ = true;
  } else {
    ++sharing_;
  }
}

/// Without waiting in the control words.
bool Agent::try_at_once(const Wanted& wanted) {
  if (exclusive_) return false;
  LockPlace target = target_place();
  if (!wanted.exclusive) {
    if (sharing_ > 0) return wanted.first || target.lock.next() == Control::Lock::kNobody;
    return target.lock.enter(Side::shared, wanted.first);
  }
  if (sharing_ > 0) return false;
  LockPlace node = node_place();
  if (!node.lock.enter(Side::other, wanted.first)) return false;
  if (target.lock.enter(Side::other, wanted.first)) {
    has_node_ = true;
    return true;
  }
  wake(win_, node, node.lock.leave(Side::other));
  return false;
}

bool Agent::take(std::uint32_t origin, bool exclusive, bool first) {
  const Wanted wanted{origin, exclusive, first};
  if (queue_.empty() || first) {
    // The head's place in the queue is given up: it may wait for what this one holds elsewhere.
    if (first) take_back();
    if (try_at_once(wanted)) {
      granted(wanted);
      if (!queue_.empty()) Runtime::get()->polling().add(*this);
      return true;
    }
  }
  if (first) {
    queue_.push_front(wanted);
  } else {
    queue_.push_back(wanted);
  }
  next_look_ns_ = now_ns() + kLifeLookNs;
  Runtime::get()->polling().add(*this);
  return false;
}

/// The first in the queue waits in the control words no longer.
void Agent::take_back() {
  if (stage_ == Stage::queued_target) {
    LockPlace target = target_place();
    target.lock.give_up();
    wake(win_, target, target.lock.next());
  }
  if (stage_ == Stage::queued_node) {
    LockPlace node = node_place();
    node.lock.give_up();
    wake(win_, node, node.lock.next());
  }
  stage_ = Stage::idle;
  if (has_node_ && !exclusive_) {
    LockPlace node = node_place();
    wake(win_, node, node.lock.leave(Side::other));
    has_node_ = false;
  }
}

void Agent::give(bool exclusive) {
  LockPlace target = target_place();
  if (exclusive) {
    exclusive_ = false;
    wake(win_, target, target.lock.leave(Side::other));
    LockPlace node = node_place();
    has_node_ = false;
    wake(win_, node, node.lock.leave(Side::other));
  } else if (--sharing_ == 0) {
    wake(win_, target, target.lock.leave(Side::shared));
  }
  (void)progress();
}

void Agent::forget(std::uint32_t origin) {
  const auto gone = [origin](const Wanted& wanted) { return wanted.origin == origin; };
  if (!queue_.empty() && gone(queue_.front())) take_back();
  queue_.erase(std::remove_if(queue_.begin(), queue_.end(), gone), queue_.end());
}

/// The head of the queue enters the queues of the control words, when nobody of its own side holds them.
bool Agent::begin(const Wanted& wanted) {
  if (try_at_once(wanted)) return true;
  if (exclusive_ || sharing_ > 0) return false;
  LockPlace target = target_place();
  LockPlace node = node_place();
  if (!wanted.exclusive) {
    target.lock.queue(Side::shared, wanted.first);
    stage_ = Stage::queued_target;
  } else {
    node.lock.queue(Side::other, wanted.first);
    stage_ = Stage::queued_node;
  }
  return false;
}

/// True: the head of the queue has the lock.
bool Agent::step(const Wanted& wanted) {
  if (stage_ == Stage::idle) {
    if (begin(wanted)) return true;
  }
  LockPlace target = target_place();
  if (stage_ == Stage::queued_node) {
    LockPlace node = node_place();
    if (!node.lock.try_queued(Side::other)) return false;
    wake(win_, node, node.lock.next());
    has_node_ = true;
    stage_ = Stage::idle;
    if (target.lock.enter(Side::other, wanted.first)) return true;
    target.lock.queue(Side::other, wanted.first);
    stage_ = Stage::queued_target;
  }
  if (stage_ != Stage::queued_target) return false;
  if (!target.lock.try_queued(wanted.exclusive ? Side::other : Side::shared)) return false;
  wake(win_, target, target.lock.next());
  stage_ = Stage::idle;
  return true;
}

void Agent::look(const Wanted& wanted) {
  const std::uint64_t now = now_ns();
  if (now < next_look_ns_) return;
  next_look_ns_ = now + kLifeLookNs;
  std::uint32_t dead = free_of_dead(win_, target_place());
  if (dead == Control::Lock::kNobody) dead = free_of_dead(win_, node_place());
  if (dead != Control::Lock::kNobody) granted_.on_holder_died(wanted.origin, dead);
}

int Agent::progress() noexcept {
  int events = 0;
  while (!queue_.empty()) {
    const Wanted wanted = queue_.front();
    if (!step(wanted)) {
      look(wanted);
      break;
    }
    granted(wanted);
    queue_.pop_front();
    ++events;
    granted_.on_granted(wanted.origin);
  }
  if (queue_.empty()) Runtime::get()->polling().remove(*this);
  return events;
}

std::string Agent::describe() const {
  if (queue_.empty()) return {};
  return "a lock of " + win_.label(win_.rank()) + " for rank " + std::to_string(queue_.front().origin);
}

}  // namespace starling::mpi::message
