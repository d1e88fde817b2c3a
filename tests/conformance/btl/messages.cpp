// SPDX-License-Identifier: BSD-3-Clause
// Every btl: messages arrive once, whole, in order, and by progress() alone.

#include <cstring>
#include <thread>

#include "tests/conformance/btl/suite.hpp"

namespace starling::conformance {
namespace {

using test::bytes_of;
using test::make_message;

TEST_F(Btl, says_what_it_can) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  const btl::Limits& limits = job.component(0).limits();
  EXPECT_GE(limits.message_max_bytes, limits.fragment_bytes) << "a fragment is a message";
  EXPECT_GE(limits.message_max_bytes, limits.eager_bytes) << "an eager message is a message";
  EXPECT_EQ(job.component(0).name(), plugin_under_test().descriptor().name.view())
      << "name() is the name in the descriptor, by which users select the transport";
  EXPECT_FALSE(job.component(0).reaches(ProcId{0, 77777})) << "there is no process of rank 77777";
  EXPECT_FALSE(job.component(0).connect(ProcId{5, 0}, {})) << "nothing is known of world 5";
}

TEST_F(Btl, nothing_arrives_before_progress) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  send(job, 0, 1, {1, 8}, 8);
  EXPECT_TRUE(job.sink(1).messages.empty()) << "only progress() delivers";
  receive(job, 1, {{1, 8}});
  EXPECT_EQ(job.component(1).progress(), 0) << "progress() counts events, and there is none";
  EXPECT_TRUE(progress_until(job, [&] { return job.component(0).drained(); }))
      << "drained() stays false though everything has arrived";
  EXPECT_EQ(job.sink(1).messages.size(), 1u);
}

TEST_F(Btl, all_sizes_arrive_whole_and_in_order) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  const std::size_t most = job.component(0).limits().message_max_bytes;
  std::vector<Sent> sent;
  const auto add = [&](std::size_t bytes) { sent.push_back({sent.size(), bytes}); };
  for (std::size_t bytes = 0; bytes <= 600; ++bytes) add(bytes);
  for (std::size_t bytes = 1024; bytes <= most; bytes *= 2) {
    for (const std::size_t near : {bytes - 9, bytes - 8, bytes - 1, bytes, bytes + 1}) {
      if (near <= most) add(near);
    }
  }
  add(most);
  for (const Sent& each : sent) ASSERT_NO_FATAL_FAILURE(send(job, 0, 1, each, 40));
  receive(job, 1, sent);
}

TEST_F(Btl, full_is_again_and_changes_nothing) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  const std::size_t bytes = job.component(0).limits().fragment_bytes;
  std::vector<Sent> sent;
  while (sent.size() < 100'000) {
    const auto message = make_message(sent.size(), bytes);
    if (job.endpoint(0, 1).send(bytes_of(message, 0, 8), bytes_of(message, 8, bytes - 8)) == Post::again)
      break;
    sent.push_back({sent.size(), bytes});
  }
  ASSERT_LT(sent.size(), 100'000u) << "a receiver that does not progress must make send() give again at some "
                                      "time: memory has an end";
  EXPECT_GE(job.component(0).counters().full, 1u) << "Counters::full counts sends that found no room";
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(job.endpoint(0, 1).send({}, make_message(99, bytes)), Post::again);
    ASSERT_EQ(job.endpoint(0, 1).reserve(bytes), nullptr)
        << "where send() says again, reserve() of as many bytes is null";
  }
  ASSERT_NO_FATAL_FAILURE(receive(job, 1, sent));
  sent.push_back({sent.size(), bytes});
  ASSERT_NO_FATAL_FAILURE(send(job, 0, 1, sent.back(), 0));
  receive(job, 1, sent);
}

TEST_F(Btl, mixed_sizes_survive_many_wrap_arounds) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  const std::size_t most = job.component(0).limits().message_max_bytes;
  std::uint64_t random = 1;
  std::uint64_t number = 0;
  for (int batch = 0; batch < 300; ++batch) {
    std::vector<Sent> sent;
    for (int i = 0; i < 7; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const std::size_t range = (random >> 60) == 0 ? most : 3000;
      sent.push_back({++number, (random >> 33) % (range + 1)});
      ASSERT_NO_FATAL_FAILURE(send(job, 0, 1, sent.back(), sent.back().bytes / 2));
    }
    ASSERT_NO_FATAL_FAILURE(receive(job, 1, sent)) << "batch " << batch;
    job.sink(1).messages.clear();
  }
}

TEST_F(Btl, reserved_room_may_be_filled_in_part) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  const std::size_t most = job.component(0).limits().message_max_bytes;
  std::vector<Sent> sent;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t room = (i * 997) % most;
    const std::size_t used = i % 3 == 0 ? room : room / (1 + i % 5);
    std::byte* to = nullptr;
    const Deadline deadline = patience();
    while ((to = job.endpoint(0, 1).reserve(room)) == nullptr) {
      job.progress();
      ASSERT_FALSE(deadline.passed()) << "reserve() of " << room << " bytes gives no room for ever";
    }
    const auto message = make_message(i, used);
    if (used != 0) std::memcpy(to, message.data(), used);
    job.endpoint(0, 1).commit(used);
    sent.push_back({i, used});
  }
  receive(job, 1, sent);
}

TEST_F(Btl, senders_are_told_apart) {
  BtlJob job(3);
  ASSERT_TRUE(job.works());
  if (job.within_one_process()) GTEST_SKIP() << "this transport connects a process with itself";
  constexpr std::uint64_t kMessages = 300;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_NO_FATAL_FAILURE(send(job, 0, 2, {2 * i, i}, 16));
    ASSERT_NO_FATAL_FAILURE(send(job, 1, 2, {2 * i + 1, i + 7}, 16));
  }
  progress_until(job, [&] { return job.sink(2).messages.size() == 2 * kMessages; });
  for (const std::uint32_t from : {0u, 1u}) {
    std::vector<test::Collector::Message> its;
    std::vector<Sent> sent;
    for (const auto& message : job.sink(2).messages) {
      if (message.from == ProcId{0, from}) its.push_back(message);
    }
    for (std::uint64_t i = 0; i < kMessages; ++i) sent.push_back({2 * i + from, i + 7 * from});
    EXPECT_TRUE(came_as_sent(its, sent)) << "of those whose Origin says that they are from rank " << from;
  }
}

TEST_F(Btl, both_directions_at_once_from_two_threads) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  if (job.within_one_process()) GTEST_SKIP() << "this transport connects a process with itself";
  constexpr std::size_t kMessages = 20'000;
  std::vector<Sent> sent;
  for (std::size_t i = 0; i < kMessages; ++i) sent.push_back({i, i % 500});
  const auto run = [&](unsigned me, unsigned other) {
    std::size_t next = 0;
    const Deadline deadline = patience();
    while ((next < kMessages || job.sink(me).messages.size() < kMessages) && !deadline.passed()) {
      if (next < kMessages) {
        const auto message = make_message(sent[next].number, sent[next].bytes);
        if (job.endpoint(me, other).send({}, message) == Post::done) ++next;
      }
      job.component(me).progress();
    }
  };
  job.endpoint(0, 1);
  job.endpoint(1, 0);
  std::thread second([&] { run(1, 0); });
  run(0, 1);
  second.join();
  // Who ended first may have left the other something to push.
  progress_until(job, [&] {
    return job.sink(0).messages.size() >= kMessages && job.sink(1).messages.size() >= kMessages;
  });
  for (const unsigned me : {0u, 1u}) ASSERT_TRUE(came_as_sent(job.sink(me).messages, sent)) << "at " << me;
}

}  // namespace
}  // namespace starling::conformance
