// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Of several threads that wait, one makes progress; the others park. Layer: mpi.
/// docs/design/threads.md
///
/// Threads:   everything under the runtime's lock, which park() gives away.
/// Ordering:  a parked thread is called when what it waits for is there, or nobody makes progress any more.

#include <cstdint>

#include "core/atomics.hpp"
#include "core/chain.hpp"
#include "mpi/process/lock.hpp"
#include "mpi/runtime/parking_slot.hpp"

namespace starling::mpi {

/// What a thread waits for.
struct Wanted {
  using Ready = bool (*)(void*);
  Ready ready;
  void* context;
  /// ready() only looks and cannot fail: any thread may ask it, under the lock.
  bool looks;
  [[nodiscard]] bool operator()() const { return ready(context); }
};

class Parking {
 public:
  /// Threads that park are counted in `parked` besides what others count there.
  Parking(BigLock& lock, std::uint32_t& parked) noexcept : lock_(lock), count_(parked) {}
  Parking(const Parking&) = delete;
  Parking& operator=(const Parking&) = delete;

  /// This thread makes progress for all until it is through with its wait, if nobody does yet.
  class Driver {
   public:
    explicit Driver(Parking& parking) noexcept;
    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

   private:
    Parking* parking_;  ///< null: another thread does, or this one further up
  };

  /// Whether another thread makes progress.
  [[nodiscard]] bool driven() const noexcept { return driver_ != 0 && driver_ != BigLock::me(); }
  /// Parks while another thread makes progress. True: what this thread waits for is there; false: nobody
  /// makes progress any more, so this thread is to.
  [[nodiscard]] bool await(const Wanted& wanted);
  /// Until called. Whether it is there what this thread waits for; false: to be looked at again.
  [[nodiscard]] bool park(const Wanted& wanted);
  /// Something has happened: calls whom it may concern.
  void call() noexcept {
    if (!parked_.empty()) [[unlikely]]
      call_concerned();
  }

 private:
  struct Kernel {
    static void yield() noexcept { LockKernel::yield(0); }
    static void sleep(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
      LockKernel::sleep(word, value);
    }
    static void wake_one(std::atomic<std::uint32_t>& word) noexcept { LockKernel::wake_one(word); }
  };
  struct Parked {
    explicit Parked(const Wanted& what) noexcept : wanted(what) {}
    const Wanted& wanted;
    bool there = false;
    ParkingSlot<StdAtomics, Kernel> parking_slot;
    Parked* next = nullptr;
    Parked* previous = nullptr;
  };
  using ParkedChain = Chain<Parked, &Parked::next, &Parked::previous>;

  void hand_on() noexcept;
  void call_concerned() noexcept;
  void call(Parked& one) noexcept;
  [[nodiscard]] std::uint32_t patience() noexcept;
  void learn(bool slept) noexcept;

  static constexpr std::uint32_t kMostYields = 16;

  BigLock& lock_;
  std::uint32_t& count_;
  std::uint64_t driver_ = 0;            ///< BigLock::me() of the thread that makes progress
  ParkedChain parked_;                  ///< the latest first
  std::uint32_t yields_ = kMostYields;  ///< before a parked thread sleeps; fewer where those were in vain
  std::uint32_t parkings_ = 0;
};

}  // namespace starling::mpi
