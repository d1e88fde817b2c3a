// SPDX-License-Identifier: BSD-3-Clause
// Messages copied by an owner and two helpers, processes of their own, through one slot that is used again
// for each: with random delays between reading a task, claiming a chunk, copying it and saying so. First
// without the
// generation in the claim (a counter that is raised), to show that the delays find what is wrong; then as
// it is. With `threads` the helpers are threads, where a checker of races sees what they do, and only as it
// is. Layer: tests. Usage: stress_claims [messages [threads]]

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "frameworks/shm/claims/board.hpp"

namespace starling {
namespace {

constexpr std::uint32_t kHelpers = 2, kChunkWords = 16, kChunksMost = 12, kWords = kChunkWords * kChunksMost;
constexpr std::uint32_t kSlot = 7;
constexpr std::uint64_t kControlNs = 60'000'000'000;

/// What all processes share: a slot, and two places each to copy from and to, which messages take in turn.
struct Shared {
  shm::BoardSlot slot;
  shm::BoardProcess processes[kHelpers + 1];
  std::atomic<std::uint64_t> unchecked;  ///< the control's next chunk
  std::atomic<std::uint64_t> unchecked_done;
  std::atomic<std::uint32_t> ending;
  std::uint64_t from[2][kWords];
  std::uint64_t to[2][kWords];
};

class Member {
 public:
  Member(Shared& shared, std::uint32_t me, bool checked) noexcept
      : shared_(shared),
        claim_(shm::MappedSlot(shared.slot), kSlot),
        me_(me),
        checked_(checked),
        random_(me * 77u + 5u) {}

  /// Looks for a chunk and copies it, with delays. Whether it did.
  bool help() noexcept {
    const auto offer = claim_.look();
    if (!offer) return false;
    delay();
    return checked_ ? help_checked(*offer) : help_unchecked(*offer);
  }
  /// Owner: one message. Whether it arrived whole, and nothing was written elsewhere.
  bool send(std::uint64_t number) noexcept {
    const std::uint64_t place = number % 2;
    const auto chunks = static_cast<std::uint32_t>(2 + random_() % (kChunksMost - 1));
    for (std::uint32_t at = 0; at < kWords; ++at) shared_.from[place][at] = number * kWords + at + 1;
    shared_.unchecked_done.store(0, std::memory_order_relaxed);
    shared_.unchecked.store(0, std::memory_order_relaxed);
    // The task's numbers tell where: addresses would not be the same in all processes.
    claim_.open(
        {number, place, place, std::uint64_t{chunks} * kChunkWords, 0, 0, kChunkWords, shm::Helpers::anybody},
        chunks);
    const std::uint64_t limit = now_ns() + 2'000'000'000;
    while (checked_ ? !claim_.ended() : shared_.unchecked_done.load(std::memory_order_acquire) < chunks) {
      // A chunk that somebody has taken for the message before is never copied.
      if (!checked_ && now_ns() > limit) return false;
      if (!help()) ::sched_yield();
    }
    bool right = true;
    for (std::uint32_t at = 0; at < kWords; ++at) {
      const std::uint64_t wanted = at < chunks * kChunkWords ? number * kWords + at + 1 : 0;
      right = right && shared_.to[place][at] == wanted && shared_.to[1 - place][at] == 0;
    }
    std::memset(shared_.to, 0, sizeof shared_.to);
    // The control's counter has passed the end; whoever still looks at it must find the end there.
    if (!checked_) claim_.close();
    return right;
  }

 private:
  using Offer = shm::MappedClaim::Offer;

  void copy(const Offer& offer, std::uint64_t chunk) noexcept {
    const std::uint64_t at = chunk * kChunkWords;
    if (at + kChunkWords > kWords) return;
    std::memcpy(&shared_.to[offer.task.to % 2][at], &shared_.from[offer.task.from % 2][at],
                kChunkWords * sizeof(std::uint64_t));
  }
  bool help_checked(const Offer& offer) noexcept {
    auto& work = shared_.processes[me_].work;
    if (!claim_.take(offer, work)) return false;
    delay();
    copy(offer, offer.chunk());
    delay();
    claim_.finish(offer.chunk(), work);
    return true;
  }
  /// What a claim without a generation does: raises a counter that may be the next message's by now.
  bool help_unchecked(const Offer& offer) noexcept {
    const std::uint64_t chunk = shared_.unchecked.fetch_add(1, std::memory_order_acq_rel);
    if (chunk >= offer.chunks()) return false;
    copy(offer, chunk);
    shared_.unchecked_done.fetch_add(1, std::memory_order_release);
    return true;
  }
  /// Mostly none; now and then long enough for another message to begin.
  void delay() noexcept {
    const auto draw = random_() % 256;
    if (draw == 0) ::usleep(20);
    if (draw < 8) ::sched_yield();
    if (draw < 64) {
      for (unsigned spin = 0; spin < draw * 10; ++spin) asm volatile("" ::: "memory");
    }
  }

  Shared& shared_;
  shm::MappedClaim claim_;
  std::uint32_t me_;
  bool checked_;
  std::minstd_rand random_;
};

void help_until_the_end(Shared& shared, std::uint32_t me, bool checked) {
  Member member(shared, me, checked);
  while (shared.ending.load(std::memory_order_relaxed) == 0) {
    if (!member.help()) ::sched_yield();
  }
}

/// One who helps: a process, or a thread.
class Helper {
 public:
  Helper(Shared& shared, std::uint32_t me, bool checked, bool as_thread) {
    if (as_thread) {
      thread_ = std::thread(help_until_the_end, std::ref(shared), me, checked);
      return;
    }
    process_ = ::fork();
    if (process_ != 0) return;
    help_until_the_end(shared, me, checked);
    ::_exit(0);
  }
  /// Whether it has ended as it should.
  bool join() {
    int status = 0;
    if (thread_.joinable()) return thread_.join(), true;
    return process_ > 0 && ::waitpid(process_, &status, 0) == process_ && status == 0;
  }

 private:
  std::thread thread_;
  pid_t process_ = -1;
};

/// How many of the messages were wrong; the control ends with the first one, or after its time.
std::uint64_t run(std::uint64_t messages, bool checked, bool threads) {
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  auto& shared = *new (memory) Shared{};
  for (auto& process : shared.processes) process.work.store(shm::kNoWork);
  std::vector<Helper> helpers;
  for (std::uint32_t i = 0; i < kHelpers; ++i) helpers.emplace_back(shared, i + 1, checked, threads);
  Member owner(shared, 0, checked);
  const std::uint64_t end = now_ns() + kControlNs;
  std::uint64_t wrong = 0;
  for (std::uint64_t number = 0; number < messages && (checked || (wrong == 0 && now_ns() < end)); ++number)
    wrong += owner.send(number) ? 0 : 1;
  shared.ending.store(1, std::memory_order_relaxed);
  for (Helper& helper : helpers) wrong += helper.join() ? 0 : 1;
  ::munmap(memory, sizeof(Shared));
  return wrong;
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  const std::uint64_t messages = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 43'000;
  const bool threads = argc > 2 && std::strcmp(argv[2], "threads") == 0;
  const std::uint64_t begun = starling::now_ns();
  const bool found = threads || starling::run(100'000'000, false, false) != 0;
  const std::uint64_t between = starling::now_ns();
  if (!threads) {
    std::printf("without generations: %s after %.1f s\n",
                found ? "a message was wrong" : "no message was wrong", double(between - begun) * 1e-9);
  }
  const std::uint64_t wrong = starling::run(messages, true, threads);
  std::printf("with generations: %llu of %llu messages were wrong, in %.1f s\n",
              static_cast<unsigned long long>(wrong), static_cast<unsigned long long>(messages),
              double(starling::now_ns() - between) * 1e-9);
  return found && wrong == 0 ? 0 : 1;
}
