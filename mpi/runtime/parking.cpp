// SPDX-License-Identifier: BSD-3-Clause
// Parking of threads that wait. What is hard: a yield hands the core over in a microsecond, a sleep costs
// several, but each yield of a thread whose message is far away takes time from those that work. Layer: mpi.
// docs/design/threads.md

#include "mpi/runtime/parking.hpp"

#include <algorithm>

namespace starling::mpi {

Parking::Driver::Driver(Parking& parking) noexcept : parking_(parking.driver_ == 0 ? &parking : nullptr) {
  if (parking_ != nullptr) parking_->driver_ = BigLock::me();
}

Parking::Driver::~Driver() {
  if (parking_ == nullptr) return;
  parking_->driver_ = 0;
  parking_->hand_on();
}

// Who was called to make progress next may find that it waits for nothing any more, since the one before has
// made progress until it left. Then it calls another one, who would wait for ever otherwise.
bool Parking::await(const Wanted& wanted) {
  while (driven()) {
    if (park(wanted)) return true;
    if (wanted()) {
      hand_on();
      return true;
    }
  }
  return false;
}

void Parking::hand_on() noexcept {
  if (driver_ != 0) return;
  if (Parked* const one = parked_.front()) call(*one);
}

bool Parking::park(const Wanted& wanted) {
  Parked one(wanted);
  parked_.push_front(one);
  ++count_;
  const std::uint32_t yields = patience();
  const std::uint32_t depth = lock_.release_all();
  const bool slept = one.parking_slot.wait(yields);
  lock_.reacquire(depth);
  if (yields != 0) learn(slept);
  return one.there;
}

void Parking::call_concerned() noexcept {
  for (Parked *one = parked_.front(), *next = nullptr; one != nullptr; one = next) {
    next = ParkedChain::after(*one);
    if (one->wanted.looks && !one->wanted()) continue;
    one->there = one->wanted.looks;
    call(*one);
  }
}

// From here on it is not in the list; it ends as soon as it gets the lock.
void Parking::call(Parked& one) noexcept {
  parked_.remove(one);
  --count_;
  one.parking_slot.call();
}

// Where yields were in vain, only one parking in kTryAgain tries them again.
std::uint32_t Parking::patience() noexcept {
  constexpr std::uint32_t kTryAgain = 32, kTry = 4;
  if (yields_ == 0) return ++parkings_ % kTryAgain == 0 ? kTry : 0;
  return yields_;
}

void Parking::learn(bool slept) noexcept {
  yields_ = slept ? yields_ / 2 : std::min(kMostYields, 2 * yields_ + 1);
}

}  // namespace starling::mpi
