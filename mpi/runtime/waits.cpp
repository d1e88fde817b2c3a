// SPDX-License-Identifier: BSD-3-Clause
// Waiting: poll for a while, yield, then sleep on the node segment's doorbell. What is hard: what arrives
// between the last look and the sleep must end it, and no wake-up may be lost unnoticed. Layer: mpi. See
// docs/design/waiting.md.

#include "mpi/runtime/waits.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

#include "core/pause.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "frameworks/shm/ends.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/params.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi {
namespace {

/// From how many ranks of a node on, if there are fewer cores, who waits for processes sleeps at once.
constexpr std::size_t kLargeNode = 64;
/// Who publishes something just when a sleep ends rings soon after that, unless it is put aside in between.
constexpr std::uint64_t kLateRingNs = 100'000'000;
/// How many lost wake-ups are waited for so; where rings cannot arrive at all, that is enough.
constexpr std::uint64_t kLateRings = 10;
/// Polls of a wait before it reads a clock. On a core that others want each takes time from who is waited
/// for, and a look at a network costs a system call.
constexpr std::uint32_t kHotPolls = 64, kHotPollsOnSharedCore = 4;
/// On a node with cores enough, those who get a core by a yield may be ranks of other nodes on this machine
/// (virtual nodes, containers): they poll too, and do not compute. Nobody knows how many; so many are
/// reckoned with.
constexpr std::size_t kRanksOfOtherNodes = 16;
/// Polls between two yields on a core of its own: they last longer than a yield, so that most of what comes
/// is found at once.
constexpr std::uint32_t kPollsPerYield = 64;
/// Polls between two looks at the clock.
constexpr std::uint32_t kPollsPerLook = 32;

/// A turn in a line of two comes within it.
constexpr std::uint64_t kYieldInLineNs = 50'000;

/// A sleep is never longer: what nobody rings for (the launcher's end, where a shell is between) is noticed
/// at this interval. It grows with the node, so that a thousand that sleep wake as often in all as a hundred.
constexpr std::uint64_t sleep_limit_ns(std::size_t node_ranks) noexcept {
  constexpr std::uint64_t kLeast = 100'000'000, kMost = 1'000'000'000, kForRank = 1'000'000;
  return std::clamp(kForRank * node_ranks, kLeast, kMost);
}

/// How often this thread's core was given to another one while it could have run on.
long switches_of_thread() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

/// Lets others run: threads of this process, which may want the runtime's lock, and other processes.
void give_core() {
  BigLock& lock = registry().lock;
  const auto depth = lock.release_all();
  ::sched_yield();
  lock.reacquire(depth);
}

}  // namespace

/// A wait of the program's: it makes progress itself, and the progress thread stays away.
class Waits::InWait {
 public:
  explicit InWait(Waits& waits) noexcept : waits_(waits) {
    ++waits_.waiting_;
    ++waits_.count_;
  }
  ~InWait() {
    if (--waits_.waiting_ == 0) waits_.thread_.program_left();
  }
  InWait(const InWait&) = delete;
  InWait& operator=(const InWait&) = delete;

 private:
  Waits& waits_;
};

void Waits::suit_place(const params::Registry& params) {
  const std::int64_t spin_us = params.integer(kSpin);
  const std::int64_t yield_us = params.integer(kYield);
  const std::size_t ranks = place_.node_ranks().size();
  hot_polls_ = place_.crowded() ? kHotPollsOnSharedCore : kHotPolls;
  patience_ = Patience::of(spin_us, yield_us, place_.crowded(), ranks);
  patience_on_shared_core_ = Patience::of(spin_us, yield_us, true, ranks);
  shares_cores_ = place_.crowded() && patience_.yield_ns != 0;
  hang_help_.set_slot(place_.segment().slot(place_.local_rank()));
  yields_ = Yields(place_.segment().yield_pause(), place_.crowded() ? ranks : ranks + kRanksOfOtherNodes);
  busy_ = Busy(place_.segment());
  contention_ = Contention(patience_on_shared_core_.spin_ns < patience_.spin_ns);
}

void Waits::wait_long(const char* function, const Wanted& wanted) {
  const Waiting waiting(function);
  // Who does more than to look may wait for what is no event of progress: words of a node's board.
  if (wanted.looks && registry().multiple.load(std::memory_order_relaxed)) {
    take_turns(wanted);
  } else {
    (void)until(wanted.ready, wanted.context, Deadline{});
  }
}

// Of threads that wait at the same time one makes progress. Were each to poll, they would wait for each other
// at the lock, and take the cores from those that have work.
void Waits::take_turns(const Wanted& wanted) {
  Parking& parking = polling_.parking();
  if (parking.driven()) {
    const InWait in_wait(*this);
    if (parking.await(wanted)) return;
  }
  const Parking::Driver driver(parking);
  (void)until(wanted.ready, wanted.context, Deadline{});
}

// A loop around MPI_Test or MPI_Iprobe waits, but cannot sleep. With more ranks than cores it gives its core
// away, as a wait does: the process it waits for may want it. Who computes between questions keeps it.
bool Waits::poll_once() {
  if (polling_.progress() != 0) return true;
  if (shares_cores_) {
    if (const std::uint64_t now = now_ns(); poll_loop_.ask(now)) {
      busy_.waits(now);
      poll_loop_.resumed(yield());
      busy_.works();
      if (polling_.progress() != 0) return true;
    }
  }
  return false;
}

void Waits::look_around_after_poll() {
  if (++idle_polls_ % kPollsPerLook == 0) {
    look_around();
  } else {
    hang_help_.answer();
  }
}

bool Waits::until(ReadyFunction ready, void* context, Deadline deadline) {
  const InWait in_wait(*this);
  const bool done = poll_and_sleep(ready, context, deadline);
  busy_.works();
  return done;
}

bool Waits::poll_and_sleep(ReadyFunction ready, void* context, Deadline deadline) {
  constexpr std::uint32_t kSoon = ~std::uint32_t{0};  // the next poll looks at the clock
  std::uint64_t last_event_ns = now_ns();
  contention_.begin_wait();
  for (std::uint32_t polls = 0;; ++polls) {
    if (ready(context)) return true;
    if (polling_.progress() != 0) {
      last_event_ns = 0;  // read the clock only when needed
      continue;
    }
    pause_cpu();
    if (polls % kPollsPerLook != 0) continue;
    const std::uint64_t now = now_ns();
    if (last_event_ns == 0) last_event_ns = now;
    if (deadline.passed()) return false;
    polling_.parking().call();  // what a call has completed, and no pass
    give_way();
    const bool shares_core = place_.crowded() || contention_.here(now);
    hot_polls_ = shares_core ? kHotPollsOnSharedCore : kHotPolls;
    const Patience& patience = shares_core ? patience_on_shared_core_ : patience_;
    if (now - last_event_ns < patience.spin_ns) {
      if (contention_.worth_asking(now - last_event_ns)) ask_for_contention(now);
      continue;
    }
    busy_.waits(now);
    const std::uint64_t yield_ns =
        in_line_ != 0 ? std::min(patience.yield_ns, kYieldInLineNs) : patience.yield_ns;
    switch (yield_until(ready, context, last_event_ns + patience.spin_ns + yield_ns, shares_core)) {
      case Yielded::ready: return true;
      case Yielded::event:
        last_event_ns = 0;
        if (shares_core) polls = kSoon;  // if it was not for this wait, others want the core again
        break;
      case Yielded::nothing:
        if (sleep_once(ready, context, deadline)) return true;
        last_event_ns = now_ns();
        busy_.waited(last_event_ns);
        if (place_.segment().woken_from_own_core()) contention_.found(last_event_ns);
    }
  }
}

// With more ranks than cores the process that is waited for is often one that wants this core. A yield gives
// it the core in a microsecond; going to sleep and being woken costs ten or more. With cores enough a yield
// that takes long says that another program runs here, whatever the node's processes do on theirs.
Waits::Yielded Waits::yield_until(ReadyFunction ready, void* context, std::uint64_t end_ns, bool ours) {
  std::uint64_t now = now_ns();
  if (yields_.paused(now)) {
    if (contention_.here(now)) contention_.found(now);  // nobody asks meanwhile
    return Yielded::nothing;
  }
  const std::uint32_t polls = ours || registry().lock_is_wanted() ? 1 : kPollsPerYield;
  while (now < end_ns) {
    const std::uint64_t before = now;
    now = yield();
    contention_.turn(before, now, switches_of_thread);
    const bool long_away = yields_.note(before, now, [&] { return ours && busy_.others_since(before); });
    for (std::uint32_t i = 0; i < polls; ++i) {
      if (ready(context)) return Yielded::ready;
      if (polling_.progress() != 0) return Yielded::event;
    }
    if (long_away) break;
  }
  return Yielded::nothing;
}

// On a node with cores enough: the system may have put two ranks side by side, or the ranks of another node
// that is on this machine too. Who polls for 100 us then keeps the core from the one that it waits for.
void Waits::ask_for_contention(std::uint64_t now) {
  contention_.asked();
  if (yields_.paused(now)) return;
  busy_.waits(now);
  const long before = switches_of_thread();
  const std::uint64_t end = yield();
  if (switches_of_thread() == before) return;
  (void)yields_.note(now, end, [&] { return busy_.others_since(now); });
  contention_.found(end);
}

std::uint64_t Waits::yield() {
  give_core();
  const std::uint64_t now = now_ns();
  busy_.waited(now);
  return now;
}

// Threads of this process may want the lock, or this core.
void Waits::give_way() {
  if (registry().lock_is_wanted()) give_core();
}

bool Waits::sleep_once(ReadyFunction ready, void* context, Deadline deadline) {
  if (!polling_.peers().may_sleep()) {
    // Nobody will ring for something that waits: let the other side run, but do not sleep.
    give_core();
    look_around();
    return false;
  }
  const bool multiple = registry().multiple.load(std::memory_order_relaxed);
  Sleeper& sleeper = polling_.sleeper();
  const std::uint32_t doorbell = sleeper.arm(multiple ? shm::kAwaitsAll : awaited_);
  // From here on producers ring. What arrived before is found by this last look. ready() may take what it
  // finds (a matched probe does), so a yes is never asked for twice. A look at a network after begin()
  // could take the event that its descriptor would have shown.
  const bool quiet = polling_.progress() == 0;
  const bool armed = sleeper.begin();
  bool found = ready(context);
  if (armed && quiet && !found) {
    const std::uint64_t left = deadline.left_ns();
    ++sleeper.counts.all;
    if (sleeper.sleep_unlocked(doorbell, std::min(left, sleep_limit_ns(place_.node_ranks().size())),
                               launcher_.descriptor()))
      found = look_after_limit(doorbell, ready, context);
  }
  sleeper.end();
  if (!found) look_around();
  return found;
}

// Nobody has rung. If something is there all the same, either it has just come and its ring follows, or a
// wake-up was lost: that costs time only, which no test would see, so it is counted.
bool Waits::look_after_limit(std::uint32_t doorbell, ReadyFunction ready, void* context) {
  Sleeper& sleeper = polling_.sleeper();
  Sleeps& sleeps = sleeper.counts;
  ++sleeps.to_limit;
  const bool events = polling_.progress() != 0;
  const bool found = ready(context);
  if (!events && !found) return false;
  if (sleeps.missed >= kLateRings || sleeper.sleep_unlocked(doorbell, kLateRingNs, launcher_.descriptor()))
    ++sleeps.missed;
  return found;
}

void Waits::look_around() {
  hang_help_.answer();
  const std::uint64_t now = now_ns();
  if (now < next_look_ns_) return;
  next_look_ns_ = now + sleep_limit_ns(place_.node_ranks().size()) / 2;
  hang_help_.note_ages(now);
  launcher_.check();
}

Result<void> Waits::wait_for_others(const std::function<bool()>& ready, Deadline deadline,
                                    const std::function<std::string()>& what) {
  const Waiting waiting(what);
  const auto call = [](void* context) { return (*static_cast<const std::function<bool()>*>(context))(); };
  void* const context = const_cast<std::function<bool()>*>(&ready);
  // The processes that are waited for are being started, and want the cores: on a large node no yields and no
  // further polls between two sleeps. Those of n processes, for a time in proportion to n, were most of the
  // start of 4,096. A network's descriptor tells that something came, but one look may not find it.
  const InWait in_wait(*this);
  while (place_.crowded() && place_.node_ranks().size() >= kLargeNode &&
         !polling_.sleeper().hears_transports() && !deadline.passed()) {
    give_way();
    if (polling_.progress() != 0) {
      if (ready()) return {};
      continue;
    }
    busy_.waits(now_ns());
    awaited_ = shm::kAwaitsNoEnd;
    const bool done = sleep_once(call, context, deadline);
    awaited_ = shm::kAwaitsNothing;
    busy_.waited(now_ns());
    if (!done) continue;
    busy_.works();
    return {};
  }
  if (until(call, context, deadline)) return {};
  return fail(Errc::timed_out, "wait", place_.absent_processes());
}

}  // namespace starling::mpi
