// SPDX-License-Identifier: BSD-3-Clause
// Buffers that receivers grant and senders write to: who gets them, and that they come back.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "frameworks/shm/memory/buffer_pool.hpp"
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

using Pool = shm::BufferPool;
constexpr std::size_t kLong = 5000, kPoolBytes = 512 * Pool::kBlock;

/// A receive whose buffer comes from a pool.
class Managed final : public Layout, public Placement {
 public:
  explicit Managed(Pool& pool) : pool_(pool) {}
  ~Managed() override { pool_.give(handle); }
  Placement* placement() const noexcept override { return const_cast<Managed*>(this); }
  bool place(Buffer& buffer, std::uint64_t bytes) noexcept override {
    handle = pool_.take(bytes);
    buffer = {pool_.find(handle)->memory, bytes, 0, nullptr};
    return true;
  }
  bool adopt(Buffer& buffer, std::uint64_t granted, std::uint64_t bytes) noexcept override {
    handle = {granted};
    adopted = true;
    buffer = {pool_.find(handle)->memory, bytes, 0, nullptr};
    return true;
  }
  bool keep(Buffer&, std::byte*, std::uint64_t, HeldBytes&) noexcept override { return false; }
  Pool& pool() noexcept override { return pool_; }
  std::uint64_t packed_bytes() const noexcept override { return 1; }
  void pack(const void*, std::uint64_t, std::uint64_t, std::byte*, std::size_t) const noexcept override {}
  void unpack(void*, std::uint64_t, std::uint64_t, const std::byte*, std::size_t) const noexcept override {}

  Pool::Handle handle;
  bool adopted = false;

 private:
  Pool& pool_;
};

struct Receive {
  OpPtr op;
  std::unique_ptr<Managed> managed;
  bool has(std::size_t bytes, std::uint64_t seed) const {
    const auto* const at = static_cast<const std::byte*>(op->request.buffer.base);
    const auto wanted = filled(bytes, seed);
    return op->status().bytes == bytes && (bytes == 0 || std::equal(wanted.begin(), wanted.end(), at));
  }
};

struct GrantsJob : Job {
  explicit GrantsJob(std::uint32_t size, bool writes = true) : Job(size, options_with(writes)), pools(size) {
    for (Pool& pool : pools) {
      memory.emplace_back(static_cast<std::byte*>(std::aligned_alloc(Pool::kBlock, kPoolBytes)));
      pool.open(memory.back().get(), kPoolBytes, true);
    }
  }
  static PairOptions options_with(bool writes) {
    PairOptions options;
    options.writes = writes;
    return options;
  }
  Receive managed(std::uint32_t me, int from, int tag, std::size_t most = kLong * 4) {
    Receive made{make(me, from, tag, {}), std::make_unique<Managed>(pools[me])};
    made.op->request.buffer = {nullptr, most, 0, made.managed.get()};
    engines[me]->irecv(made.op->request);
    return made;
  }
  /// As often as it takes until a message of 0 to 1 has been pushed: a map may not be there at first.
  void get_going(int tag = 1) {
    for (int turn = 0; turn < 40 && network.at(0).sent(kPushed) == 0; ++turn) {
      auto receive = managed(1, 0, tag);
      auto send = isend(0, 1, tag, filled(kLong, 9));
      settle();
      ASSERT_TRUE(receive.op->complete() && send->complete());
      ASSERT_TRUE(receive.has(kLong, 9));
    }
    ASSERT_NE(network.at(0).sent(kPushed), 0u);
  }
  std::size_t pushed() { return network.at(0).sent(kPushed); }
  /// Sends until one has been pushed that nobody has received yet.
  OpPtr push_one(std::uint64_t seed, int tag = 1) {
    const std::size_t before = pushed();
    for (int turn = 0; turn < 40; ++turn) {
      auto send = isend(0, 1, tag, filled(kLong, seed));
      settle();
      if (pushed() != before) return send;
      auto receive = managed(1, 0, tag);
      settle();
    }
    return nullptr;
  }

  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };
  static constexpr auto kPushed = static_cast<std::uint8_t>(wire::Kind::pushed);
  static constexpr auto kGrant = static_cast<std::uint8_t>(wire::Kind::grant);
  std::vector<std::unique_ptr<std::byte, Free>> memory;
  std::vector<Pool> pools;
};

TEST(Grants, the_first_managed_receive_grants_and_later_messages_are_pushed) {
  GrantsJob job(2);
  auto first = job.managed(1, 0, 1);
  auto sent = job.isend(0, 1, 1, filled(kLong, 1));
  job.settle();
  EXPECT_TRUE(first.has(kLong, 1));
  EXPECT_EQ(job.network.at(1).sent(GrantsJob::kGrant), Grants::kAhead);
  EXPECT_EQ(job.pushed(), 0u);
  auto send = job.push_one(2);
  ASSERT_NE(send, nullptr);
  EXPECT_TRUE(send->complete()) << "before anybody has asked for it";
  auto second = job.managed(1, kAny, kAnyTagInt);
  ASSERT_TRUE(second.op->complete());
  EXPECT_TRUE(second.has(kLong, 2));
  EXPECT_TRUE(second.managed->adopted);
}

TEST(Grants, nobody_is_granted_anything_for_ordinary_receives_or_without_maps) {
  for (const bool writes : {true, false}) {
    GrantsJob job(2, writes);
    for (int turn = 0; turn < 5; ++turn) {
      auto ordinary = job.irecv(1, 0, 1, kLong);
      auto a = job.isend(0, 1, 1, filled(kLong, 1));
      job.settle();
      EXPECT_EQ(ordinary->data, filled(kLong, 1));
      if (writes) continue;
      auto receive = job.managed(1, 0, 1);
      auto b = job.isend(0, 1, 1, filled(kLong, 2));
      job.settle();
      EXPECT_TRUE(receive.has(kLong, 2));
    }
    EXPECT_EQ(job.network.at(1).sent(GrantsJob::kGrant), 0u);
    EXPECT_EQ(job.pushed(), 0u);
  }
}

TEST(Grants, an_ordinary_receive_copies_out_of_the_buffer_which_comes_back) {
  GrantsJob job(2);
  job.get_going();
  auto send = job.push_one(3);
  ASSERT_NE(send, nullptr);
  const std::uint64_t out = job.pools[1].counters().out;
  auto ordinary = job.irecv(1, 0, 1, kLong);
  ASSERT_TRUE(ordinary->complete());
  EXPECT_EQ(ordinary->data, filled(kLong, 3));
  EXPECT_EQ(job.pools[1].counters().out, out - 1);
}

TEST(Grants, a_receive_that_is_too_short_gets_what_fits) {
  GrantsJob job(2);
  job.get_going();
  for (const std::size_t room : {std::size_t{100}, std::size_t{0}}) {
    for (const bool managed : {true, false}) {
      auto send = job.push_one(4);
      ASSERT_NE(send, nullptr);
      auto receive = managed ? job.managed(1, 0, 1, room) : Receive{job.irecv(1, 0, 1, room), nullptr};
      ASSERT_TRUE(receive.op->complete());
      EXPECT_EQ(receive.op->status().fault, Fault::truncated);
      EXPECT_TRUE(receive.has(room, 4));
    }
  }
}

TEST(Grants, synchronous_sends_are_announced) {
  GrantsJob job(2);
  job.get_going();
  const std::size_t before = job.pushed();
  auto send = job.isend(0, 1, 1, filled(kLong, 5), Mode::synchronous);
  job.settle();
  EXPECT_FALSE(send->complete());
  EXPECT_EQ(job.pushed(), before);
  auto receive = job.managed(1, 0, 1);
  job.settle();
  EXPECT_TRUE(send->complete());
  EXPECT_TRUE(receive.has(kLong, 5));
}

TEST(Grants, what_was_granted_for_a_context_comes_back_when_it_is_closed) {
  GrantsJob job(2);
  job.get_going();
  EXPECT_EQ(job.pools[1].counters().out, Grants::kAhead);
  job[0].close(job.contexts[0]);
  job.settle();
  EXPECT_EQ(job.pools[1].counters().out, 0u);
  job[1].close(job.contexts[1]);
}

TEST(Grants, what_nobody_will_receive_gives_its_buffer_back) {
  GrantsJob job(2);
  job.get_going();
  auto send = job.push_one(6);
  ASSERT_NE(send, nullptr);
  job[1].close(job.contexts[1]);
  job[0].close(job.contexts[0]);
  job.settle();
  EXPECT_EQ(job.pools[1].counters().out, 0u);
}

TEST(Grants, longer_messages_get_longer_buffers_and_the_short_ones_come_back) {
  GrantsJob job(2);
  job.get_going();
  auto receive = job.managed(1, 0, 1);
  auto send = job.isend(0, 1, 1, filled(kLong * 3, 7));
  job.settle();
  EXPECT_TRUE(receive.has(kLong * 3, 7));
  EXPECT_EQ(job.pools[1].counters().out, Grants::kAhead + 1) << "and the one received";
}

/// Half of the pool may be granted at a time: what comes back counts no more, or nobody is granted anything
/// after a while.
TEST(Grants, what_was_used_or_given_back_can_be_granted_again) {
  constexpr std::size_t kEnough = 3 * kPoolBytes / 2;
  const auto granted = [](GrantsJob& job) { return job.network.at(1).sent(GrantsJob::kGrant); };
  {
    GrantsJob job(2);
    job.get_going();
    for (std::size_t bytes = 0; bytes < kEnough; bytes += kLong) {
      auto receive = job.managed(1, 0, 1);
      auto send = job.isend(0, 1, 1, filled(kLong, 1));
      job.settle();
      ASSERT_TRUE(receive.has(kLong, 1));
    }
    EXPECT_GT(job.pushed(), kPoolBytes / (2 * kLong)) << "more than the pool has room for at a time";
  }
  // Longer and longer messages, so that what was granted for shorter ones comes back unused; each tag anew.
  GrantsJob job(2);
  std::size_t given = 0;
  for (int tag = 0; given < kEnough; ++tag) {
    for (std::size_t bytes = kLong; bytes <= 4 * kLong; bytes *= 2) {
      const std::size_t before = granted(job);
      auto receive = job.managed(1, 0, tag);
      auto send = job.isend(0, 1, tag, filled(bytes, 1));
      job.settle();
      ASSERT_TRUE(receive.has(bytes, 1));
      ASSERT_GT(granted(job), before) << given << " bytes were granted before";
      given += bytes;
    }
    job[0].close(job.contexts[0]);
    job.settle();
    ASSERT_EQ(job.pools[1].counters().out, 0u);
    job.contexts[0] = job.open(0, kWorld);
  }
}

TEST(Grants, no_more_than_half_of_the_pool_is_granted_at_a_time) {
  GrantsJob job(2);
  for (int tag = 0; tag < 300; ++tag) {
    auto receive = job.managed(1, 0, tag);
    auto send = job.isend(0, 1, tag, filled(kLong, 1));
    job.settle();
    ASSERT_TRUE(receive.has(kLong, 1));
  }
  EXPECT_EQ(job.network.at(1).sent(GrantsJob::kGrant), kPoolBytes / 2 / 8192) << "of 8 KiB each";
}

TEST(Grants, an_envelope_counts_only_for_a_buffer_that_was_granted) {
  GrantsJob job(2);
  job.get_going();
  for (const std::uint64_t handle :
       {std::uint64_t{0}, std::uint64_t{1} << 32 | 1u << 24, ~std::uint64_t{0}}) {
    const wire::Pushed forged{{{wire::Kind::pushed, 0, 0, 0}, kWorld.bits, 2, 0}, 100, handle};
    const auto bytes = wire::bytes_of(forged);
    job.network.inject(0, 1, {bytes.begin(), bytes.end()});
  }
  auto receive = job.managed(1, 0, 2);
  job.settle();
  EXPECT_FALSE(receive.op->complete());
  const auto notes = job.notes(1);
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("was not granted") != std::string::npos;
  }));
  job[1].cancel(receive.op->request);
}

/// Long and short messages of a few tags, received in any way: each receive gets the next message that fits
/// it.
TEST(Grants, random_messages_come_in_order_whoever_wants_them) {
  GrantsJob job(3);
  std::mt19937 random(17);
  struct SentMessage {
    OpPtr op;
    std::size_t bytes;
    std::uint64_t seed;
  };
  for (int round = 0; round < 300; ++round) {
    // Tag by tag, what 0 and 2 have sent to 1 and nobody has received.
    std::vector<SentMessage> sent[3][2];
    const auto count = 1 + random() % 12;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto from = static_cast<std::uint32_t>(random() % 2 * 2);
      const auto tag = static_cast<std::uint32_t>(random() % 2);
      const std::size_t bytes = random() % 3 == 0 ? random() % 500 : 1500 + random() % 12000;
      const std::uint64_t seed = random();
      sent[from][tag].push_back({job.isend(from, 1, int(tag), filled(bytes, seed)), bytes, seed});
      if (random() % 2 == 0) job.progress();
    }
    for (const std::uint32_t from : {0u, 2u}) {
      for (const std::uint32_t tag : {0u, 1u}) {
        for (SentMessage& one : sent[from][tag]) {
          Receive receive = random() % 4 == 0 ? Receive{job.irecv(1, int(from), int(tag), 14000), nullptr}
                                              : job.managed(1, int(from), int(tag), 14000);
          job.settle();
          ASSERT_TRUE(receive.op->complete() && one.op->complete());
          ASSERT_EQ(receive.op->status().fault, Fault::none);
          ASSERT_TRUE(receive.has(one.bytes, one.seed)) << "round " << round;
        }
      }
    }
  }
  EXPECT_GT(job.pushed(), 50u);
  for (std::uint32_t rank = 0; rank < 3; ++rank) job[rank].close(job.contexts[rank]);
  job.settle();
  EXPECT_EQ(job.pools[1].counters().out, 0u);
}

}  // namespace
}  // namespace starling::pml::test
