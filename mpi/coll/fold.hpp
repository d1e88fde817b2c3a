// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A partial result that grows to the left or to the right, in rank order. Layer: mpi.
///
/// Operator::apply writes its result over the right operand, so the partial result changes between two
/// buffers. Fold knows in which it is, and where it can starts from the user's send buffer without a copy.
///
/// Threads: used while one schedule is built. Ownership: borrows all buffers; its own are the schedule's
/// scratch.

#include "mpi/coll/schedule.hpp"

namespace starling::mpi::coll {

class Fold {
 public:
  /// Starts from `value`, which is written to only if it is `result`. The final value is to lie in `result`;
  /// null: anywhere.
  Fold(Schedule& schedule, const Type& type, std::uint64_t count, const void* value, void* result)
      : schedule_(schedule),
        type_(type),
        count_(count),
        value_(value),
        first_(result != nullptr ? result : schedule.scratch(type, count)),
        result_(result) {}
  /// Starts from a value in `place`, scratch memory that may be written to. The value may arrive there later.
  static Fold from_scratch(Schedule& schedule, const Type& type, std::uint64_t count, void* place,
                           void* result) {
    Fold fold(schedule, type, count, place, result);
    fold.second_ = place;
    return fold;
  }

  [[nodiscard]] const void* value() const noexcept { return value_; }
  [[nodiscard]] Buffer buffer() const noexcept { return region(value_, count_, type_); }

  /// Where the next operand may be received; `lower`: prepend() follows. To send the value in the same round,
  /// call buffer() before.
  [[nodiscard]] Buffer landing(bool lower) {
    const bool writable = value_ == first_ || value_ == second_;
    if (lower && !writable) {
      schedule_.copy(buffer(), region(first_, count_, type_));
      value_ = first_;
    }
    if (value_ != first_) {
      landing_ = first_;
    } else {
      if (second_ == nullptr) second_ = schedule_.scratch(type_, count_);
      landing_ = second_;
    }
    return region(landing_, count_, type_);
  }
  /// value = value op the operand that was received, in a later round than its receive.
  void append() {
    schedule_.reduce(value_, landing_, count_);
    value_ = landing_;
  }
  /// value = the operand that was received op value
  void prepend() { schedule_.reduce(landing_, const_cast<void*>(value_), count_); }
  /// Copies the value to where it is wanted, in a round of its own.
  void finish() {
    schedule_.next_round();
    if (result_ != nullptr) schedule_.copy(buffer(), region(result_, count_, type_));
    schedule_.next_round();
  }

 private:
  Schedule& schedule_;
  const Type& type_;
  std::uint64_t count_;
  const void* value_;
  void* first_;
  void* second_ = nullptr;
  void* landing_ = nullptr;
  void* result_;
};

}  // namespace starling::mpi::coll
