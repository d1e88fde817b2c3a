// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Waiting: polls for a while, yields, then sleeps between arrivals. Layer: mpi.
/// docs/design/waiting.md
///
/// Threads:   under the runtime's lock, which waiting gives away; several threads may wait at once.
/// Ownership: owns polling; everything else is borrowed.
/// Errors:    when the job is being ended from outside, waiting does not return: the process exits.
/// Units:     nanoseconds in names.

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "mpi/runtime/busy.hpp"
#include "mpi/runtime/contention.hpp"
#include "mpi/runtime/hang_help.hpp"
#include "mpi/runtime/launcher.hpp"
#include "mpi/runtime/parking.hpp"
#include "mpi/runtime/patience.hpp"
#include "mpi/runtime/place.hpp"
#include "mpi/runtime/poll_loop.hpp"
#include "mpi/runtime/polling.hpp"
#include "mpi/runtime/progress_thread.hpp"
#include "mpi/runtime/waiting.hpp"
#include "mpi/runtime/yields.hpp"
#include "params/registry.hpp"

namespace starling::mpi {

class Waits {
 public:
  Waits(const Place& place, pmi::Component& pmi, ProgressThread& thread) noexcept
      : polling_(place, thread), place_(place), thread_(thread), launcher_(pmi), hang_help_(polling_) {}
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

  [[nodiscard]] Polling& polling() noexcept { return polling_; }
  [[nodiscard]] HangHelp& hang_help() noexcept { return hang_help_; }

  /// How long to poll and to yield depends on the place, and on parameters: whenever the place has changed.
  void suit_place(const params::Registry& params);

  /// Progresses until ready() is true. ready() is not asked again after a yes.
  template <class Ready>
  void wait(Ready&& ready) {
    wait(nullptr, ready);
  }
  /// As above; hang help names the function.
  template <class Ready>
  [[gnu::always_inline]] void wait(const char* function, Ready&& ready) {
    wait_as(function, ready, false);
  }
  /// For one of many waiters that are served in turn, each by a ring. It sleeps soon: its yields would take
  /// time from those served earlier.
  template <class Ready>
  void wait_in_line(Ready&& ready) {
    const InLine in_line(*this);
    wait(nullptr, ready);
  }
  /// As wait(), where ready() only looks and cannot fail: any thread that makes progress may ask it.
  template <class Ready>
  [[gnu::always_inline]] void watch(const char* function, Ready&& ready) {
    wait_as(function, ready, true);
  }
  /// watch() in two steps, for a wait that asks for more once it has become long: the first polls, which say
  /// whether that was all, and the rest.
  template <class Ready>
  [[nodiscard]] [[gnu::always_inline]] bool watch_shortly(Ready&& ready) {
    for (std::uint32_t polls = 0; polls < hot_polls_; ++polls) {
      if (ready()) return true;
      polling_.progress();
    }
    return ready();
  }
  template <class Ready>
  void watch_long(const char* function, Ready&& ready) {
    wait_long(function, {call_of(ready), address_of(ready), true});
  }
  /// As wait(), but only up to a deadline; returns whether ready() became true.
  template <class Ready>
  [[nodiscard]] bool wait_until(Deadline deadline, Ready&& ready) {
    return until(call_of(ready), address_of(ready), deadline);
  }
  /// For processes of the job that come one after the other, as in the creation of a communicator. `what`
  /// says what is waited for. Errc::timed_out, with a hint at the cause or nothing.
  [[nodiscard]] Result<void> wait_for_others(const std::function<bool()>& ready, Deadline deadline,
                                             const std::function<std::string()>& what);

  /// One progress call of a function that does not wait and found nothing; programs that test in a loop get
  /// hang help and notice the launcher's end by it. `what` is said by hang help: a function's name, or a
  /// callable that gives a text. Returns whether something came.
  template <class What>
  bool poll(const What& what) {
    if (poll_once()) return true;
    Waiting waiting(what);
    waiting.since_ns = ~std::uint64_t{0};  // a call that returns at once has no age
    look_around_after_poll();
    return false;
  }
  /// As poll(), until look() finds what the call is about or nothing more comes: transports hand over in
  /// pieces what they have, and a call that does not wait is to see all that was there. What look() said.
  template <class What, class Look>
  [[nodiscard]] bool poll_until(const What& what, Look&& look) {
    for (int passes = 0; passes < kMostPasses && poll(what); ++passes)
      if (look()) return true;
    return look();
  }

  /// What waits may sleep for besides messages, as a number of frameworks/shm/doorbell.hpp; until it is set
  /// to kAwaitsNothing again. Where threads may wait at once, all are woken for all.
  void set_awaited(std::uint32_t awaited) noexcept { awaited_ = awaited; }

  /// Threads of the program that are in a wait, and how many waits there have been.
  [[nodiscard]] std::uint32_t waiting() const noexcept { return waiting_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  static constexpr int kMostPasses = 1000;  ///< of poll_until(), under messages that never end

  using ReadyFunction = Wanted::Ready;
  class InWait;
  class InLine {
   public:
    explicit InLine(Waits& waits) noexcept : waits_(waits) { ++waits_.in_line_; }
    ~InLine() { --waits_.in_line_; }
    InLine(const InLine&) = delete;
    InLine& operator=(const InLine&) = delete;

   private:
    Waits& waits_;
  };

  template <class Ready>
  [[nodiscard]] static ReadyFunction call_of(Ready&) noexcept {
    return [](void* context) { return (*static_cast<Ready*>(context))(); };
  }
  template <class Ready>
  [[nodiscard]] static void* address_of(Ready& ready) noexcept {
    return const_cast<std::remove_const_t<Ready>*>(&ready);
  }
  template <class Ready>
  [[gnu::always_inline]] void wait_as(const char* function, Ready& ready, bool looks) {
    if (!watch_shortly(ready)) wait_long(function, {call_of(ready), address_of(ready), looks});
  }
  void wait_long(const char* function, const Wanted& wanted);
  bool poll_once();
  void look_around_after_poll();
  void take_turns(const Wanted& wanted);
  [[nodiscard]] bool until(ReadyFunction ready, void* context, Deadline deadline);
  bool poll_and_sleep(ReadyFunction ready, void* context, Deadline deadline);
  enum class Yielded : std::uint8_t { ready, event, nothing };
  /// `ours`: who gets the core by a yield is most likely one of the node's processes.
  [[nodiscard]] Yielded yield_until(ReadyFunction ready, void* context, std::uint64_t end_ns, bool ours);
  /// Gives the core away while this process waits; returns the time after.
  std::uint64_t yield();
  /// One yield, to learn whether somebody else wants this core.
  void ask_for_contention(std::uint64_t now);
  void give_way();
  [[nodiscard]] bool sleep_once(ReadyFunction ready, void* context, Deadline deadline);
  [[nodiscard]] bool look_after_limit(std::uint32_t doorbell, ReadyFunction ready, void* context);
  void look_around();

  Polling polling_;
  std::uint32_t hot_polls_ = 0;  ///< polls of wait() before it reads a clock
  std::uint32_t awaited_ = 0;
  bool shares_cores_ = false;  ///< the node is crowded, and waits yield
  const Place& place_;
  ProgressThread& thread_;
  Launcher launcher_;
  HangHelp hang_help_;
  Patience patience_;
  Patience patience_on_shared_core_;
  Contention contention_;
  Yields yields_;
  Busy busy_;
  PollLoop poll_loop_;
  std::uint32_t idle_polls_ = 0;
  std::uint64_t next_look_ns_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint32_t in_line_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace starling::mpi
