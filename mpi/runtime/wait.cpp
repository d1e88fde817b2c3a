// SPDX-License-Identifier: BSD-3-Clause
// Progress and waiting: poll for a while, yield, then sleep on the node segment's doorbell. What is hard:
// several threads may sleep at once, and a thread that progresses completes the requests of others, so it
// must wake them. Layer: mpi. See docs/design/waiting.md.

#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/clock.hpp"
#include "core/flush.hpp"
#include "core/log.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "frameworks/shm/ends.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi {
namespace {

/// On a node with so many ranks, and more than cores, who waits for processes sleeps at once.
constexpr std::size_t kLargeNode = 64;
/// Who publishes something just when a sleep ends rings soon after that, unless it is put aside in between.
constexpr std::uint64_t kLateRingNs = 100'000'000;
/// So many lost wake-ups are waited for in this way; where rings cannot arrive at all, that is enough.
constexpr std::uint64_t kLateRings = 10;
/// Polls between two looks at the clock.
constexpr std::uint32_t kPollsPerLook = 32;
/// Whoever is woken from its own core shares it with one that it waits for, for so long unless told again.
constexpr std::uint64_t kSharesCoreNs = 10'000'000;
constexpr std::uint64_t kDrainNoticeNs = 10'000'000'000;
constexpr int kLauncherLostExit = 113;

/// A sleep is never longer: what nobody rings for (the launcher's end, where a shell is between) is noticed
/// at this interval. It grows with the node, so that a thousand that sleep wake as often in all as a hundred.
constexpr std::uint64_t sleep_limit_ns(std::size_t node_ranks) noexcept {
  constexpr std::uint64_t kLeast = 100'000'000, kMost = 1'000'000'000, kForRank = 1'000'000;
  return std::clamp(kForRank * node_ranks, kLeast, kMost);
}

inline void pause_cpu() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
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
class Runtime::InWait {
 public:
  explicit InWait(Runtime& runtime) noexcept : runtime_(runtime) {
    ++runtime_.in_wait_;
    ++runtime_.waits_;
  }
  ~InWait() {
    if (--runtime_.in_wait_ == 0) runtime_.progress_thread_.program_left();
  }
  InWait(const InWait&) = delete;
  InWait& operator=(const InWait&) = delete;

 private:
  Runtime& runtime_;
};

int Runtime::progress() noexcept {
  int events = peers_.progress();
  for (Progressable* item = items_; item != nullptr; item = cursor_) {
    cursor_ = item->next_;  // remove() moves it on if that one goes
    events += item->progress();
  }
  // Another thread's request may just have ended: it may sleep on the same doorbell.
  if (events != 0) wake();
  return events;
}

void Runtime::wake() noexcept {
  if (sleepers_ != 0) segment_->ring(local_rank_);
}

void Runtime::add(Progressable& item) noexcept {
  if (item.registered_) return;
  item.registered_ = true;
  item.since_ns_ = 0;
  item.previous_ = nullptr;
  item.next_ = items_;
  if (items_ != nullptr) items_->previous_ = &item;
  items_ = &item;
}

void Runtime::remove(Progressable& item) noexcept {
  if (!item.registered_) return;
  item.registered_ = false;
  if (cursor_ == &item) cursor_ = item.next_;
  (item.previous_ != nullptr ? item.previous_->next_ : items_) = item.next_;
  if (item.next_ != nullptr) item.next_->previous_ = item.previous_;
  item.next_ = item.previous_ = nullptr;
}

void Runtime::wait_long(const char* function, ReadyFunction ready, void* context) {
  const Waiting waiting(function);
  (void)wait_until(ready, context, Deadline{});
}

// A loop around MPI_Test or MPI_Iprobe waits, but cannot sleep. With more ranks than cores it gives its core
// away, as a wait does: the process it waits for may want it. Who computes between questions keeps it.
void Runtime::poll(const char* function) {
  if (progress() != 0) return;
  if (crowded_ && patience_.yield_ns != 0) {
    if (const std::uint64_t now = now_ns(); poll_loop_.ask(now)) {
      busy_.waits(now);
      poll_loop_.resumed(yield());
      busy_.works();
      if (progress() != 0) return;
    }
  }
  Waiting waiting(function);
  waiting.since_ns = ~std::uint64_t{0};  // a call that returns at once has no age
  if (++idle_polls_ % kPollsPerLook == 0) {
    look_around();
  } else {
    answer_hang_help();
  }
}

bool Runtime::wait_until(ReadyFunction ready, void* context, Deadline deadline) {
  const InWait in_wait(*this);
  const bool done = poll_and_sleep(ready, context, deadline);
  busy_.works();
  return done;
}

bool Runtime::poll_and_sleep(ReadyFunction ready, void* context, Deadline deadline) {
  std::uint64_t last_event_ns = now_ns();
  for (std::uint32_t polls = 0;; ++polls) {
    if (ready(context)) return true;
    if (progress() != 0) {
      last_event_ns = 0;  // read the clock only when needed
      continue;
    }
    pause_cpu();
    if (polls % kPollsPerLook != 0) continue;
    const std::uint64_t now = now_ns();
    if (last_event_ns == 0) last_event_ns = now;
    if (deadline.passed()) return false;
    give_way();
    const Patience& patience = now < shares_core_until_ns_ ? patience_on_shared_core_ : patience_;
    if (now - last_event_ns < patience.spin_ns) continue;
    busy_.waits(now);
    switch (yield_until(ready, context, last_event_ns + patience.spin_ns + patience.yield_ns)) {
      case Yielded::ready: return true;
      case Yielded::event: last_event_ns = 0; break;
      case Yielded::nothing:
        if (sleep_once(ready, context, deadline)) return true;
        last_event_ns = now_ns();
        busy_.waited(last_event_ns);
        if (segment_->woken_from_own_core()) shares_core_until_ns_ = last_event_ns + kSharesCoreNs;
    }
  }
}

// With more ranks than cores the process that is waited for is often one that wants this core. A yield gives
// it the core in a microsecond; going to sleep and being woken costs ten or more.
Runtime::Yielded Runtime::yield_until(ReadyFunction ready, void* context, std::uint64_t end_ns) {
  std::uint64_t now = now_ns();
  if (yields_.paused(now)) return Yielded::nothing;
  while (now < end_ns) {
    const std::uint64_t before = now;
    now = yield();
    const bool long_away = yields_.note(before, now, [&] { return busy_.others_since(before); });
    if (ready(context)) return Yielded::ready;
    if (progress() != 0) return Yielded::event;
    if (long_away) break;
  }
  return Yielded::nothing;
}

std::uint64_t Runtime::yield() {
  give_core();
  const std::uint64_t now = now_ns();
  busy_.waited(now);
  return now;
}

void Runtime::give_way() {
  if (registry().multiple.load(std::memory_order_relaxed)) give_core();
}

bool Runtime::sleep_once(ReadyFunction ready, void* context, Deadline deadline) {
  if (!peers_.may_sleep()) {
    // Nobody will ring for something that waits: let the other side run, but do not sleep.
    give_core();
    look_around();
    return false;
  }
  const bool multiple = registry().multiple.load(std::memory_order_relaxed);
  const std::uint32_t doorbell = segment_->prepare_sleep(multiple ? shm::kAwaitsAll : awaited_);
  // From here on producers ring. What arrived before is found by this last look. ready() may take what it
  // finds (a matched probe does), so a yes is never asked for twice. A look at a network after begin_sleep()
  // could take the event that its descriptor would have shown.
  const bool quiet = progress() == 0;
  const bool armed = begin_sleep();
  bool found = ready(context);
  if (armed && quiet && !found) {
    const std::uint64_t left = deadline.left_ns();
    ++sleeps_.all;
    if (sleep_unlocked(doorbell, std::min(left, sleep_limit_ns(node_ranks_.size()))))
      found = look_after_limit(doorbell, ready, context);
  }
  // Flag, bell and transports are shared by all threads of this process: only the last one to wake clears
  // them.
  if (sleepers_ == 0) end_sleep();
  if (!found) look_around();
  return found;
}

bool Runtime::sleep_unlocked(std::uint32_t doorbell, std::uint64_t limit_ns) {
  ++sleepers_;
  WakeUps wake_ups = all_wake_ups(pmi_->wait_fd());
  const auto depth = registry().lock.release_all();
  const bool to_limit = sleep(wake_ups, doorbell, limit_ns);
  registry().lock.reacquire(depth);
  --sleepers_;
  return to_limit;
}

// Nobody has rung. If something is there all the same, either it has just come and its ring follows, or a
// wake-up was lost: that costs time only, which no test would see, so it is counted.
bool Runtime::look_after_limit(std::uint32_t doorbell, ReadyFunction ready, void* context) {
  ++sleeps_.to_limit;
  const bool events = progress() != 0;
  const bool found = ready(context);
  if (!events && !found) return false;
  if (sleeps_.missed >= kLateRings || sleep_unlocked(doorbell, kLateRingNs)) ++sleeps_.missed;
  return found;
}

bool Runtime::begin_sleep() noexcept {
  bool quiet = true;
  for (btl::Component* transport : fd_transports_) quiet = transport->begin_sleep() && quiet;
  return quiet;
}

void Runtime::end_sleep() noexcept {
  progress_thread_.disarm();
  segment_->cancel_sleep();
  if (segment_->bell_fd() < 0) return;
  segment_->silence_bell();
  for (btl::Component* transport : fd_transports_) transport->end_sleep();
}

void Runtime::open_bell() {
  if (segment_->bell_fd() >= 0) return;
  if (auto opened = segment_->open_bell(); !opened) {
    log::info("waiting looks at shared memory every millisecond: " + opened.error().text());
  }
}

/// `other`: one more than those of bell and transports.
Runtime::WakeUps Runtime::all_wake_ups(int other) const {
  WakeUps all;
  all.segment = segment_.get();
  if (fd_transports_.empty() && fences_ == 0) return all;
  const auto add = [&](int fd) {
    if (fd >= 0 && all.count < all.descriptors.size()) all.descriptors[all.count++] = {fd, POLLIN, 0};
  };
  add(segment_->bell_fd());
  add(other);
  for (const btl::Component* transport : fd_transports_) add(transport->wait_fd());
  all.blind = segment_->bell_fd() < 0;
  return all;
}

/// On the futex while shared memory is all there is to wait for, else on every descriptor at once. Without
/// the runtime's lock: who holds it may enter a fence, make a transport, move to another segment. Whether it
/// ended at its limit.
bool Runtime::sleep(WakeUps& wake_ups, std::uint32_t doorbell, std::uint64_t limit_ns) {
  constexpr std::uint64_t kBlindLimitNs = 1'000'000;  // no bell: shared memory is not seen while asleep
  if (wake_ups.count == 0) return wake_ups.segment->sleep(doorbell, limit_ns);
  if (wake_ups.blind && limit_ns > kBlindLimitNs) limit_ns = kBlindLimitNs;
  const timespec limit{static_cast<time_t>(limit_ns / 1'000'000'000),
                       static_cast<long>(limit_ns % 1'000'000'000)};
  return ::ppoll(wake_ups.descriptors.data(), wake_ups.count, &limit, nullptr) == 0 && !wake_ups.blind;
}

void Runtime::look_around() {
  answer_hang_help();
  const std::uint64_t now = now_ns();
  if (now < next_look_ns_) return;
  next_look_ns_ = now + sleep_limit_ns(node_ranks_.size()) / 2;
  note_ages(now);
  if (pmi_->wait_fd() < 0) return;
  pollfd descriptor{pmi_->wait_fd(), POLLIN, 0};
  if (::poll(&descriptor, 1, 0) <= 0) return;
  if (auto checked = pmi_->check(); !checked) {
    log::error("the launcher is gone, so this process ends: " + checked.error().text());
    flush_streams();
    ::_exit(kLauncherLostExit);
  }
}

Result<void> Runtime::wait(const std::function<bool()>& ready, Deadline deadline,
                           const std::function<std::string()>& what) {
  const Waiting waiting(what);
  const auto call = [](void* context) { return (*static_cast<const std::function<bool()>*>(context))(); };
  void* const context = const_cast<std::function<bool()>*>(&ready);
  // The processes that are waited for are being started, and want the cores: on a large node no yields and no
  // further polls between two sleeps. Those of n processes, for a time in proportion to n, were most of the
  // start of 4,096. A network's descriptor tells that something came, but one look may not find it.
  const InWait in_wait(*this);
  while (crowded_ && node_ranks_.size() >= kLargeNode && fd_transports_.empty() && !deadline.passed()) {
    give_way();
    if (progress() != 0) {
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
  if (wait_until(call, context, deadline)) return {};
  return fail(Errc::timed_out, "wait", absent_processes());
}

Result<void> Runtime::pause(std::uint64_t ns, const std::function<std::string()>& what) {
  auto waited = wait([] { return false; }, Deadline::after_ns(ns), what);
  if (!waited && waited.error().code != Errc::timed_out) return waited;
  return {};
}

// Of this node, as mpiexec marks them; elsewhere, those that a transport has a connection to. Who has ended
// in order is not meant: it may have had its part in the creation that others are still waiting for.
std::optional<ProcId> Runtime::dead_among(const ProcList& members) noexcept {
  if (const auto dead = peers_.dead_among(members)) return dead;
  if (segment_->deaths() == 0) return std::nullopt;
  for (std::uint32_t local = 0; local < segment_->local_size(); ++local) {
    const std::uint32_t state = segment_->slot(local).state.load(std::memory_order_acquire);
    const ProcId proc{self_.world, node_ranks_[local]};
    if (state == static_cast<std::uint32_t>(shm::ProcState::exited) && members.find(proc)) return proc;
  }
  return std::nullopt;
}

// A process that shares no memory with this one, although on the same node, cannot be told from one that
// has not come yet: both are named as possible causes.
std::string Runtime::absent_processes() const {
  std::uint32_t absent = 0;
  for (std::uint32_t rank = 0; rank < segment_->local_size(); ++rank) absent += is_absent(rank) ? 1 : 0;
  if (absent == 0) return {};
  return std::to_string(absent) + " of " + std::to_string(segment_->local_size()) +
         " processes of this node have not attached to its shared memory (" + shared_memory_ +
         "): they have not initialised MPI, or run as another user, or are in another container. Containers "
         "of "
         "one node need the host's /dev/shm mounted in each, or its network namespace and shm=memfd";
}

Result<void> Runtime::fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline,
                            const std::function<bool()>& needless) {
  const bool world = ranks.empty();
  const auto open = world ? std::exchange(open_world_fence_, std::nullopt) : std::nullopt;
  auto entered = open ? Result<pmi::Fence>(*open) : pmi_->fence_enter(ranks, tag, deadline);
  if (!entered) return fail(std::move(entered).error());
  auto over = leave_fence(*entered, world ? world_size_ : ranks.size(), deadline, needless);
  if (!over) return fail(std::move(over).error());
  if (*over) return {};
  if (world) {
    open_world_fence_ = *entered;
  } else {
    pmi_->fence_abandon(*entered);
  }
  return {};
}

Result<void> Runtime::last_fence(const std::function<bool()>& look) {
  if (open_world_fence_) {
    auto over = pmi_->fence_left(*open_world_fence_);
    if (!over || !*over) pmi_->fence_abandon(*open_world_fence_);
    open_world_fence_.reset();
  }
  auto entered = pmi_->last_fence_enter({});
  if (!entered) return fail(std::move(entered).error());
  auto over = leave_fence(*entered, world_size_, {}, look);
  if (!over) return fail(std::move(over).error());
  if (!*over) pmi_->fence_abandon(*entered);
  return {};
}

Result<bool> Runtime::leave_fence(const pmi::Fence& entered, std::size_t count, Deadline deadline,
                                  const std::function<bool()>& needless) {
  const auto what = [&] {
    return "the process manager's fence of " + std::to_string(count) +
           " processes: waits until all have entered it";
  };
  if (entered.number != pmi::Fence::kLeft) open_bell();
  ++fences_;
  Result<bool> left = false;
  bool given_up = false;
  auto waited = wait(
      [&] {
        left = pmi_->fence_left(entered);
        given_up = left && !*left && needless && needless();
        return !left || *left || given_up;
      },
      deadline, what);
  --fences_;
  if (waited && left) return !given_up;
  if (!left) return fail(std::move(left).error());
  pmi_->fence_abandon(entered);
  if (waited.error().code != Errc::timed_out) return fail(std::move(waited).error());
  return fail(Errc::timed_out, "fence",
              "gave up (parameter bootstrap_timeout): not all of " + std::to_string(count) +
                  " processes entered a fence of the process manager" +
                  (waited.error().detail.empty() ? "" : "\n  " + waited.error().detail));
}

void Runtime::drain(const char* call) {
  const auto what = [call] { return std::string(call) + ": waits until everything that was sent has left"; };
  const Waiting waiting(what);
  const auto drained = [](void* context) { return static_cast<Runtime*>(context)->peers_.drained(); };
  if (wait_until(drained, this, Deadline::after_ns(kDrainNoticeNs))) return;
  std::string text =
      std::string(call) + " has waited 10 s for messages to leave this process, and goes on waiting:";
  for (const std::string& line : waiting_for()) text += "\n  " + line;
  log::warning(text);
  wait_long(nullptr, drained, this);
}

}  // namespace starling::mpi
