// SPDX-License-Identifier: BSD-3-Clause
// Copies that several processes make: who takes part, late ones, idle ones, and those that die in the middle.

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "core/clock.hpp"
#include "frameworks/shm/claims/copies.hpp"
#include "frameworks/shm/layout.hpp"
#include "frameworks/shm/memory/owned.hpp"
#include "tests/unit/shm/processes.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling {
namespace {

using shm::Distance;
using shm::SharedCopies;
using shm::Steal;
using Step = SharedCopies::Step;

std::array<std::int32_t, 2> first_domain() noexcept { return {0, 0}; }
std::array<std::int32_t, 2> second_domain() noexcept { return {1, 1}; }
std::array<std::int32_t, 2> other_cache() noexcept { return {1, 0}; }

/// One process of a node; several of them may live in this one.
struct Member {
  Member(const UniqueFd& memfd, const shm::Geometry& geometry, std::uint32_t rank,
         SharedCopies::FindDomain domain = &first_domain, std::uint32_t cores = 8)
      : segment(test::join(memfd, geometry, rank)),
        memory(segment, 16),
        copies(segment, {16, cores, domain}) {
    segment.enter();
  }
  std::byte* buffer(std::size_t bytes) {
    auto made = memory.allocate(bytes);
    EXPECT_TRUE(made);
    return *made;
  }
  shm::NodeSegment segment;
  shm::OwnedMemory memory;
  SharedCopies copies;
};

/// Receiver 0, sender 1, and 2 who waits.
class Copies : public testing::Test {
 protected:
  static constexpr std::uint32_t kSize = 3;
  static constexpr std::size_t kBytes = 1'000'003;

  void SetUp() override {
    receiver = std::make_unique<Member>(memfd, geometry, 0);
    sender = std::make_unique<Member>(memfd, geometry, 1);
    from = sender->buffer(kBytes);
    to = receiver->buffer(kBytes);
    for (std::size_t at = 0; at < kBytes; ++at) from[at] = std::byte(at * 7 + at / 4096);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(from); }
  SharedCopies::Id open(std::uint64_t chunk = 100'000, Steal steal = Steal::never) {
    const Deadline deadline = Deadline::after_seconds(60);
    while (!receiver->copies.ready(1, address(), kBytes)) {
      if (deadline.passed()) ADD_FAILURE() << "the sender's memory does not come";
      std::this_thread::yield();
    }
    const auto id = receiver->copies.open({42, 1, address(), to, kBytes, chunk, steal});
    EXPECT_TRUE(id);
    return *id;
  }
  static Step step(Member& member, SharedCopies::Id id) {
    const Deadline deadline = Deadline::after_seconds(60);
    Step step = Step::later;
    while (step == Step::later && !deadline.passed()) step = member.copies.step(id, 42);
    return step;
  }
  void expect_all_there() { EXPECT_EQ(std::memcmp(from, to, kBytes), 0); }
  /// The receiver does the rest.
  std::uint64_t finish(SharedCopies::Id id) {
    while (step(*receiver, id) == Step::copied) {
    }
    EXPECT_TRUE(receiver->copies.ended(id));
    return receiver->copies.release(id);
  }
  /// Whether it takes part in a copy that is opened while it waits. An idle process may have lost its core
  /// when it is looked at, and others' memory takes its time to come: so who expects it tries for long.
  static constexpr int kSome = 20, kMany = 4000;
  bool helps(Member& other, Steal steal, int most) {
    for (int tries = 0; tries < most; ++tries) {
      (void)wait_idle(other);
      const auto id = open(100'000, steal);
      const bool helped = wait_idle(other) != 0;
      (void)finish(id);
      if (helped) return true;
    }
    return false;
  }
  /// Passes without an event, until it helps or for a few milliseconds; until_it_helps(): for many seconds.
  static int until_it_helps(Member& member) { return wait_idle(member, 20'000'000'000); }
  static int wait_idle(Member& member, std::uint64_t most_ns = 5'000'000) {
    const std::uint64_t end = now_ns() + most_ns;
    while (now_ns() < end) {
      if (member.copies.idle(0) != 0) return 1;
    }
    return 0;
  }

  shm::Geometry geometry = test::small_geometry(kSize, 16u << 20);
  UniqueFd memfd = test::make_memfd(geometry);
  std::unique_ptr<Member> receiver, sender;
  std::byte* from = nullptr;
  std::byte* to = nullptr;
};

TEST_F(Copies, receiver_and_sender_share_the_chunks) {
  const auto id = open();
  for (int turn = 0; turn < 10; ++turn)
    EXPECT_EQ(step(turn % 2 == 0 ? *receiver : *sender, id), Step::copied);
  EXPECT_FALSE(receiver->copies.ended(id)) << "the last chunk has three bytes";
  EXPECT_EQ(step(*sender, id), Step::copied);
  EXPECT_EQ(step(*receiver, id), Step::none_left);
  EXPECT_TRUE(receiver->copies.ended(id));
  expect_all_there();
  EXPECT_EQ(receiver->copies.release(id), 3u) << "two took part";
  EXPECT_EQ(receiver->copies.counters().own, 5u);
  EXPECT_EQ(sender->copies.counters().own, 6u);
}

TEST_F(Copies, a_sender_that_never_comes_delays_nothing) {
  const auto id = open();
  while (step(*receiver, id) == Step::copied) {
  }
  EXPECT_TRUE(receiver->copies.ended(id));
  expect_all_there();
  EXPECT_EQ(receiver->copies.release(id), 1u);
  EXPECT_EQ(step(*sender, id), Step::none_left) << "it comes late";
}

TEST_F(Copies, a_slot_that_was_used_again_is_another_copy) {
  const auto first = open();
  while (step(*receiver, first) == Step::copied) {
  }
  ASSERT_TRUE(receiver->copies.ended(first));
  (void)receiver->copies.release(first);
  const auto second = open();
  EXPECT_EQ(second.slot, first.slot);
  EXPECT_EQ(sender->copies.step(first, 42), Step::none_left);
  EXPECT_EQ(sender->copies.step(second, 41), Step::none_left) << "it is of another message";
  EXPECT_EQ(step(*sender, second), Step::copied);
}

TEST_F(Copies, chunks_suit_length_and_participants) {
  EXPECT_EQ(open(0).chunk_bytes, (kBytes / 4 + 4095) / 4096 * 4096);
  const auto small = receiver->copies.open({42, 1, address(), to, 20'000, 0, Steal::never});
  EXPECT_EQ(small->chunk_bytes, 16384u);
  const auto tiny = receiver->copies.open({42, 1, address(), to, kBytes, 1, Steal::never});
  EXPECT_EQ(tiny->chunk_bytes, (kBytes + shm::kChunksMost - 1) / shm::kChunksMost);
}

TEST_F(Copies, there_are_as_many_as_slots) {
  for (std::uint32_t i = 0; i < shm::kSlotsEach; ++i) (void)open();
  EXPECT_FALSE(receiver->copies.ready(1, address(), kBytes));
  EXPECT_FALSE(receiver->copies.open({42, 1, address(), to, kBytes, 0, Steal::never}));
}

TEST_F(Copies, private_memory_is_not_possible) {
  std::byte here{};
  EXPECT_TRUE(receiver->copies.possible(1, address(), to));
  EXPECT_FALSE(receiver->copies.possible(1, address(), &here));
  EXPECT_FALSE(receiver->copies.possible(1, reinterpret_cast<std::uintptr_t>(&here), to));
}

TEST_F(Copies, who_waits_near_by_helps_one_chunk_at_a_time) {
  Member other(memfd, geometry, 2);
  (void)finish(open());  // so that there is a board
  EXPECT_EQ(wait_idle(other), 0) << "nobody has asked";
  EXPECT_TRUE(helps(other, Steal::automatic, kMany));
  const auto stolen = other.copies.counters().stolen;
  const auto id = open(100'000, Steal::always);
  EXPECT_EQ(until_it_helps(other), 1);
  EXPECT_EQ(other.copies.counters().stolen, stolen + 1);
  while (!receiver->copies.ended(id)) ASSERT_EQ(until_it_helps(other), 1);
  expect_all_there();
  EXPECT_EQ(receiver->copies.release(id), 4u) << "it did all";
  EXPECT_EQ(other.copies.counters().stolen, stolen + 11);
}

/// Who waits looks at all slots of a process whose bit stands, each time.
TEST_F(Copies, the_bit_stands_as_long_as_there_is_something_for_others) {
  (void)finish(open());
  const auto board = shm::Board::find(sender->segment);
  const auto bits = [&] { return board->header().offered[0].load(); };
  EXPECT_EQ(bits(), 0u) << "it was for nobody else";
  const auto first = open(100'000, Steal::always), second = open(100'000, Steal::always);
  EXPECT_EQ(bits(), 1u);
  (void)finish(first);
  EXPECT_EQ(bits(), 1u) << "one is left";
  (void)finish(second);
  EXPECT_EQ(bits(), 0u);
  (void)open(100'000, Steal::always);
  EXPECT_EQ(bits(), 1u);
  receiver.reset();
  EXPECT_EQ(bits(), 0u) << "its owner has left";
}

TEST_F(Copies, who_is_gone_has_nothing_for_others_and_does_not_wait) {
  (void)finish(open());
  const auto board = shm::Board::find(sender->segment);
  (void)open(100'000, Steal::always);
  board->header().idle[0].store(1);
  sender->copies.drop(0);
  EXPECT_EQ(board->header().offered[0].load(), 0u);
  EXPECT_EQ(board->header().idle[0].load(), 0u);
}

TEST_F(Copies, who_leaves_is_idle_no_more) {
  auto other = std::make_unique<Member>(memfd, geometry, 2);
  (void)finish(open());
  const auto board = shm::Board::find(sender->segment);
  const Deadline deadline = Deadline::after_seconds(60);
  while (board->header().idle[0].load() == 0 && !deadline.passed()) (void)other->copies.idle(0);
  EXPECT_EQ(board->header().idle[0].load(), 4u);
  other.reset();
  EXPECT_EQ(board->header().idle[0].load(), 0u);
}

TEST_F(Copies, who_has_just_had_a_message_does_not_help) {
  Member other(memfd, geometry, 2);
  (void)finish(open());
  (void)wait_idle(other);
  (void)open(100'000, Steal::always);
  EXPECT_EQ(other.copies.idle(1), 0) << "a message has come";
  EXPECT_EQ(until_it_helps(other), 1);
}

TEST_F(Copies, only_the_same_cache_or_memory_helps_unless_asked) {
  const auto would_help = [this](int tries, SharedCopies::FindDomain domain, Steal steal,
                                 std::uint32_t cores = 8) {
    receiver.reset();
    receiver = std::make_unique<Member>(memfd, geometry, 0, &first_domain, cores);
    to = receiver->buffer(kBytes);
    Member other(memfd, geometry, 2, domain, cores);
    (void)finish(open());
    return helps(other, steal, tries);
  };
  EXPECT_TRUE(would_help(kMany, &first_domain, Steal::automatic));
  EXPECT_TRUE(would_help(kMany, &other_cache, Steal::automatic));
  EXPECT_FALSE(would_help(kSome, &second_domain, Steal::automatic));
  EXPECT_FALSE(would_help(kSome, nullptr, Steal::automatic)) << "nobody knows where it is";
  EXPECT_TRUE(would_help(kMany, &second_domain, Steal::always));
  EXPECT_FALSE(would_help(kSome, &first_domain, Steal::never));
  EXPECT_FALSE(would_help(kSome, &first_domain, Steal::automatic, 2)) << "three processes on two cores";
}

/// How far a process is with a chunk when it stops.
enum class Stage { named, taken, half_copied, copied, marked };

/// A process that helps with a chunk and stops there.
class Stopped {
 public:
  Stopped(const UniqueFd& memfd, const shm::Geometry& geometry, Stage stage = Stage::taken)
      : process_([&, stage] {
          Member other(memfd, geometry, 2);
          go_.take();
          const bool reached = reach(other, stage);
          taken_.give();
          if (!reached) return 1;
          for (;;) ::pause();
        }) {}
  /// Now it has come so far with the next chunk of the receiver's first slot.
  void take() {
    go_.give();
    taken_.take();
  }
  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  /// Its parent does not ask for its end.
  void kill() const { ::kill(process_.pid(), SIGKILL); }
  void kill_and_reap() { process_.kill(); }

 private:
  static bool reach(Member& other, Stage stage) {
    const auto board = shm::Board::find(other.segment);
    auto claim = board->claim(0);
    auto& work = board->process(2).work;
    const auto offer = claim.look();
    if (!offer) return false;
    if (stage == Stage::named) {
      work.store(shm::work_name(0, offer->generation(), offer->chunk()), std::memory_order_release);
      return true;
    }
    if (!claim.take(*offer, work)) return false;
    if (stage == Stage::taken) return true;
    shm::MemoryMaps maps(other.segment, 4, Access::read_write);
    const shm::CopyTask& task = offer->task;
    std::byte* const from = mapped(maps, 1, task.from, task.bytes);
    std::byte* const to = mapped(maps, 0, task.to, task.bytes);
    const std::size_t at = std::size_t{offer->chunk()} * task.chunk_bytes;
    std::memcpy(to + at, from + at, stage == Stage::half_copied ? task.chunk_bytes / 2 : task.chunk_bytes);
    if (stage == Stage::marked) claim.mark_done(offer->chunk());
    return true;
  }
  static std::byte* mapped(shm::MemoryMaps& maps, std::uint32_t rank, std::uint64_t at, std::uint64_t bytes) {
    for (;;) {
      const auto view = maps.find(rank, at, bytes, true);
      if (view.state == shm::MemoryMaps::State::mapped) return view.at;
      std::this_thread::yield();
    }
  }

  test::Signal go_, taken_;
  test::Process process_;
};

TEST_F(Copies, a_chunk_of_the_dead_is_done_again_but_not_one_of_the_slow) {
  Stopped other(memfd, geometry);
  const auto id = open(100'000, Steal::always);
  other.take();
  while (step(*receiver, id) == Step::copied) {
  }
  const std::uint64_t end = now_ns() + 50'000'000;
  while (now_ns() < end) ASSERT_FALSE(receiver->copies.ended(id)) << "it is only slow";
  other.kill();  // it stays a zombie: its pid and its descriptor are all there is
  const Deadline deadline = Deadline::after_seconds(60);
  while (!receiver->copies.ended(id)) ASSERT_FALSE(deadline.passed());
  EXPECT_EQ(receiver->copies.counters().again, 1u);
  expect_all_there();
}

TEST_F(Copies, a_chunk_of_the_dead_is_not_done_again_without_the_senders_memory) {
  Stopped other(memfd, geometry);
  const auto id = open(100'000, Steal::always);
  other.take();
  while (step(*receiver, id) == Step::copied) {
  }
  sender.reset();
  receiver->copies.drop(1);
  other.kill();
  const std::uint64_t end = now_ns() + 50'000'000;
  while (now_ns() < end) ASSERT_FALSE(receiver->copies.ended(id));
  receiver->copies.close(id);
  const Deadline deadline = Deadline::after_seconds(60);
  while (!receiver->copies.ended(id)) ASSERT_FALSE(deadline.passed());
}

TEST_F(Copies, where_pids_say_nothing_the_launcher_does) {
  Stopped other(memfd, geometry);
  const auto id = open(100'000, Steal::always);
  other.take();
  receiver->segment.slot(2).pid_namespace += 1;
  while (step(*receiver, id) == Step::copied) {
  }
  other.kill();
  const std::uint64_t end = now_ns() + 50'000'000;
  while (now_ns() < end) ASSERT_FALSE(receiver->copies.ended(id)) << "nobody has told";
  receiver->segment.mark_ended(2);
  const Deadline deadline = Deadline::after_seconds(60);
  while (!receiver->copies.ended(id)) ASSERT_FALSE(deadline.passed());
  EXPECT_EQ(receiver->copies.counters().again, 1u);
  expect_all_there();
}

/// How the receiver can know of an end.
enum class Known { zombie, pid_is_gone, launcher };

class Deaths : public Copies, public testing::WithParamInterface<std::tuple<Stage, Known>> {};

TEST_P(Deaths, at_every_stage_of_a_chunk) {
  const auto [stage, known] = GetParam();
  Stopped other(memfd, geometry, stage);
  const auto id = open(100'000, Steal::always);
  std::memset(to, 0, kBytes);
  other.take();
  if (known == Known::launcher) receiver->segment.slot(2).pid_namespace += 1;
  while (step(*receiver, id) == Step::copied) {
  }
  const bool has_a_chunk = stage != Stage::named && stage != Stage::marked;
  EXPECT_NE(receiver->copies.ended(id), has_a_chunk);
  if (known == Known::zombie)
    other.kill();
  else
    other.kill_and_reap();
  if (known == Known::launcher) receiver->segment.mark_ended(2);
  const Deadline deadline = Deadline::after_seconds(60);
  while (!receiver->copies.ended(id)) ASSERT_FALSE(deadline.passed());
  EXPECT_EQ(receiver->copies.counters().again, has_a_chunk ? 1u : 0u);
  expect_all_there();
  // The name that it has left behind holds nothing of the next copy in the same slot.
  (void)receiver->copies.release(id);
  (void)finish(open());
  expect_all_there();
}

std::string name_of(const testing::TestParamInfo<std::tuple<Stage, Known>>& info) {
  constexpr const char* kStages[] = {"named", "taken", "half_copied", "copied", "marked"};
  constexpr const char* kKnown[] = {"zombie", "pid_is_gone", "launcher"};
  return std::string(kStages[int(std::get<0>(info.param))]) + "_" + kKnown[int(std::get<1>(info.param))];
}
INSTANTIATE_TEST_SUITE_P(Copies, Deaths,
                         testing::Combine(testing::Values(Stage::named, Stage::taken, Stage::half_copied,
                                                          Stage::copied, Stage::marked),
                                          testing::Values(Known::zombie, Known::pid_is_gone,
                                                          Known::launcher)),
                         name_of);

TEST_F(Copies, copies_of_a_receiver_that_died_are_left_alone) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer lets no child of a process with threads start one, as the owner does";
#endif
  test::Signal opened;
  receiver.reset();
  test::Process owner([&] {
    Member dying(memfd, geometry, 0);
    std::byte* const into = dying.buffer(kBytes);
    while (!dying.copies.ready(1, address(), kBytes)) std::this_thread::yield();
    if (!dying.copies.open({42, 1, address(), into, kBytes, 100'000, Steal::always})) return 1;
    opened.give();
    for (;;) ::pause();
  });
  opened.take();
  Member other(memfd, geometry, 2);
  owner.kill();
  other.copies.drop(0);
  EXPECT_EQ(wait_idle(other), 0) << "nobody is left to copy for";
  // Who was invited may still come: it writes into memory that nobody reads, or is refused it.
  const SharedCopies::Id id{0, 1, 100'000};
  Step last = Step::copied;
  const Deadline deadline = Deadline::after_seconds(60);
  while ((last == Step::copied || last == Step::later) && !deadline.passed())
    last = sender->copies.step(id, 42);
  EXPECT_TRUE(last == Step::none_left || last == Step::refused) << static_cast<int>(last);
}

TEST_F(Copies, what_is_closed_waits_for_what_has_begun_and_copies_no_more) {
  Stopped other(memfd, geometry);
  const auto id = open(100'000, Steal::always);
  std::memset(to, 0, kBytes);
  other.take();
  receiver->copies.close(id);
  EXPECT_EQ(step(*sender, id), Step::none_left);
  EXPECT_FALSE(receiver->copies.ended(id));
  receiver->copies.drop(1);  // the sender's memory is gone
  other.kill();
  const Deadline deadline = Deadline::after_seconds(60);
  while (!receiver->copies.ended(id)) ASSERT_FALSE(deadline.passed());
  for (std::size_t at = 0; at < kBytes; ++at) ASSERT_EQ(to[at], std::byte{0});
}

}  // namespace
}  // namespace starling
