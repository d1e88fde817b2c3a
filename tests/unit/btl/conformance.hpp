// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What every btl must do, as tests over connected components inside one program. Layer: tests.
///
/// A btl's test file defines a Harness { static std::unique_ptr<Harness> make(unsigned); Component&
/// component(i); Collector& sink(i); Endpoint& endpoint(from, to); } and instantiates the suite with it. With
/// one process only, all indices are 0.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "frameworks/btl/btl.hpp"

namespace starling::test {

/// Bytes that depend on message number and place, so that any mix-up shows.
inline std::byte pattern(std::uint64_t number, std::size_t at) noexcept {
  return static_cast<std::byte>((number * 131 + at * 7 + (at >> 8)) & 0xff);
}
inline std::vector<std::byte> make_message(std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i) message[i] = pattern(number, i);
  return message;
}

/// Keeps what arrives.
class Collector final : public btl::Sink {
 public:
  struct Message {
    ProcId from;
    std::vector<std::byte> bytes;
  };
  void on_message(btl::Origin& from, std::span<const std::byte> message) noexcept override {
    if (from.cookie == nullptr) from.cookie = this;
    EXPECT_EQ(from.cookie, this);
    messages.push_back({from.proc, {message.begin(), message.end()}});
  }
  void on_peer_lost(ProcId peer, const Error& why) noexcept override {
    lost.push_back(peer);
    why_lost.push_back(why.code);
    reasons.push_back(why.text());
  }
  bool announced(ProcId, const btl::RemoteBuffer& what, std::size_t bytes) noexcept override {
    asked.push_back(bytes);
    return what.key == kAnnounced;
  }
  /// The key of what others may get.
  static constexpr std::uint64_t kAnnounced = 42;
  std::vector<Message> messages;
  std::vector<std::size_t> asked;
  std::vector<ProcId> lost;
  std::vector<Errc> why_lost;
  std::vector<std::string> reasons;
};

inline std::span<const std::byte> bytes_of(const std::vector<std::byte>& message, std::size_t from,
                                           std::size_t count) {
  return std::span<const std::byte>(message).subspan(from, count);
}

template <class Harness>
class BtlConformance : public testing::Test {
 protected:
  /// Sends, progressing the receiver when it is full.
  static void send(Harness& harness, unsigned from, unsigned to, const std::vector<std::byte>& message,
                   std::size_t header_bytes) {
    const Deadline deadline = Deadline::after_seconds(30);
    const std::size_t header = std::min(header_bytes, message.size());
    for (;;) {
      const std::size_t delivered = harness.sink(from).messages.size();
      const Post post = harness.endpoint(from, to).send(bytes_of(message, 0, header),
                                                        bytes_of(message, header, message.size() - header));
      ASSERT_EQ(harness.sink(from).messages.size(), delivered) << "only progress() delivers";
      if (post == Post::done) return;
      progress(harness);
      ASSERT_FALSE(deadline.passed());
    }
  }
  static void receive_all(Harness& harness, unsigned to, std::size_t count) {
    const Deadline deadline = Deadline::after_seconds(30);
    while (harness.sink(to).messages.size() < count && !deadline.passed()) progress(harness);
    ASSERT_EQ(harness.sink(to).messages.size(), count);
  }
  /// Both sides: a sender may have to push what it has taken.
  static void progress(Harness& harness) {
    harness.component(0).progress();
    if (Harness::kTwoThreads) harness.component(1).progress();
  }
};

TYPED_TEST_SUITE_P(BtlConformance);

TYPED_TEST_P(BtlConformance, says_what_it_can) {
  auto harness = TypeParam::make(2);
  const btl::Limits& limits = harness->component(0).limits();
  EXPECT_GE(limits.message_max_bytes, limits.fragment_bytes);
  EXPECT_GE(limits.message_max_bytes, limits.eager_bytes);
  EXPECT_FALSE(harness->component(0).name().empty());
  EXPECT_FALSE(harness->component(0).reaches(ProcId{0, 77777}));
  EXPECT_FALSE(harness->component(0).connect(ProcId{5, 0}, {}));
}

TYPED_TEST_P(BtlConformance, nothing_arrives_before_progress) {
  auto harness = TypeParam::make(2);
  const auto message = make_message(1, 8);
  this->send(*harness, 0, 1, message, 8);
  EXPECT_TRUE(harness->sink(1).messages.empty());
  this->receive_all(*harness, 1, 1);
  EXPECT_EQ(harness->sink(1).messages[0].bytes, message);
  EXPECT_EQ(harness->component(1).progress(), 0);
  const Deadline deadline = Deadline::after_seconds(30);
  while (!harness->component(0).drained() && !deadline.passed()) this->progress(*harness);
  EXPECT_TRUE(harness->component(0).drained());
  EXPECT_EQ(harness->sink(1).messages.size(), 1u);
}

TYPED_TEST_P(BtlConformance, all_sizes_arrive_whole_and_in_order) {
  auto harness = TypeParam::make(2);
  const std::size_t most = harness->component(0).limits().message_max_bytes;
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 0; bytes <= 600; ++bytes) sizes.push_back(bytes);
  for (std::size_t bytes = 1024; bytes <= most; bytes *= 2) {
    for (std::size_t near : {bytes - 9, bytes - 8, bytes - 1, bytes, bytes + 1}) {
      if (near <= most) sizes.push_back(near);
    }
  }
  sizes.push_back(most);
  for (std::size_t i = 0; i < sizes.size(); ++i) this->send(*harness, 0, 1, make_message(i, sizes[i]), 40);
  this->receive_all(*harness, 1, sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_EQ(harness->sink(1).messages[i].bytes, make_message(i, sizes[i])) << "message " << i;
  }
}

TYPED_TEST_P(BtlConformance, full_is_again_and_changes_nothing) {
  auto harness = TypeParam::make(2);
  const std::size_t bytes = harness->component(0).limits().fragment_bytes;
  std::size_t sent = 0;
  while (sent < 100000) {
    const auto message = make_message(sent, bytes);
    if (harness->endpoint(0, 1).send(bytes_of(message, 0, 8), bytes_of(message, 8, bytes - 8)) == Post::again)
      break;
    ++sent;
  }
  ASSERT_LT(sent, 100000u);
  EXPECT_GE(harness->component(0).counters().full, 1u);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(harness->endpoint(0, 1).send({}, make_message(99, bytes)), Post::again);
    EXPECT_EQ(harness->endpoint(0, 1).reserve(bytes), nullptr);
  }
  this->receive_all(*harness, 1, sent);
  this->send(*harness, 0, 1, make_message(sent, bytes), 0);
  this->receive_all(*harness, 1, sent + 1);
  for (std::size_t i = 0; i <= sent; ++i)
    ASSERT_EQ(harness->sink(1).messages[i].bytes, make_message(i, bytes));
}

TYPED_TEST_P(BtlConformance, mixed_sizes_survive_many_wrap_arounds) {
  auto harness = TypeParam::make(2);
  const std::size_t most = harness->component(0).limits().message_max_bytes;
  std::uint64_t random = 1;
  std::size_t number = 0;
  for (int batch = 0; batch < 300; ++batch) {
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 7; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const std::size_t range = (random >> 60) == 0 ? most : 3000;
      sizes.push_back((random >> 33) % (range + 1));
      this->send(*harness, 0, 1, make_message(number + sizes.size(), sizes.back()), sizes.back() / 2);
    }
    this->receive_all(*harness, 1, sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      ASSERT_EQ(harness->sink(1).messages[i].bytes, make_message(number + i + 1, sizes[i]));
    }
    harness->sink(1).messages.clear();
    number += sizes.size();
  }
}

TYPED_TEST_P(BtlConformance, reserved_room_may_be_filled_in_part) {
  auto harness = TypeParam::make(2);
  const std::size_t most = harness->component(0).limits().message_max_bytes;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t room = (i * 997) % most;
    const std::size_t used = i % 3 == 0 ? room : room / (1 + i % 5);
    std::byte* to = nullptr;
    const Deadline deadline = Deadline::after_seconds(30);
    while ((to = harness->endpoint(0, 1).reserve(room)) == nullptr) {
      this->progress(*harness);
      ASSERT_FALSE(deadline.passed());
    }
    const auto message = make_message(i, used);
    if (used != 0) std::memcpy(to, message.data(), used);
    harness->endpoint(0, 1).commit(used);
    sizes.push_back(used);
  }
  this->receive_all(*harness, 1, sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_EQ(harness->sink(1).messages[i].bytes, make_message(i, sizes[i]));
  }
}

TYPED_TEST_P(BtlConformance, get_copies_what_the_other_process_has) {
  auto harness = TypeParam::make(2);
  if (!harness->component(0).limits().get || !harness->endpoint(0, 1).can_get({})) {
    GTEST_SKIP() << "this machine does not let one process read another";
  }
  harness->endpoint(1, 0);
  struct Told : btl::Completion {
    static void set(btl::Completion* self, bool ok) noexcept { static_cast<Told*>(self)->ok = ok; }
    std::optional<bool> ok;
  };
  for (const std::size_t bytes : {1u, 4096u, 70'001u, 1u << 20, 5'000'003u}) {
    const auto source = make_message(bytes, bytes);
    std::vector<std::byte> target(source.size());
    Told told;
    told.done = &Told::set;
    const auto address = reinterpret_cast<std::uintptr_t>(source.data());
    const Post post = harness->endpoint(0, 1).get({address, Collector::kAnnounced}, target, &told);
    ASSERT_NE(post, Post::again);
    const Deadline deadline = Deadline::after_seconds(30);
    while (post == Post::posted && !told.ok && !deadline.passed()) this->progress(*harness);
    EXPECT_EQ(told.ok.value_or(post == Post::done), true);
    EXPECT_EQ(target, source);
  }
  EXPECT_EQ(harness->endpoint(0, 1).get({0, 0}, {}, nullptr), Post::done);
}

TYPED_TEST_P(BtlConformance, both_directions_at_once_from_two_threads) {
  auto harness = TypeParam::make(2);
  if (!TypeParam::kTwoThreads) GTEST_SKIP() << "this transport connects a process with itself";
  constexpr std::size_t kMessages = 20000;
  const auto run = [&](unsigned me, unsigned other) {
    std::size_t sent = 0;
    const Deadline deadline = Deadline::after_seconds(60);
    while ((sent < kMessages || harness->sink(me).messages.size() < kMessages) && !deadline.passed()) {
      if (sent < kMessages) {
        const auto message = make_message(sent, sent % 500);
        if (harness->endpoint(me, other).send({}, message) == Post::done) ++sent;
      }
      harness->component(me).progress();
    }
  };
  harness->endpoint(0, 1);
  harness->endpoint(1, 0);
  std::thread second([&] { run(1, 0); });
  run(0, 1);
  second.join();
  for (unsigned me : {0u, 1u}) {
    ASSERT_EQ(harness->sink(me).messages.size(), kMessages);
    for (std::size_t i = 0; i < kMessages; ++i) {
      ASSERT_EQ(harness->sink(me).messages[i].bytes, make_message(i, i % 500)) << i;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(BtlConformance, says_what_it_can, nothing_arrives_before_progress,
                            all_sizes_arrive_whole_and_in_order, full_is_again_and_changes_nothing,
                            mixed_sizes_survive_many_wrap_arounds, reserved_room_may_be_filled_in_part,
                            get_copies_what_the_other_process_has, both_directions_at_once_from_two_threads);

}  // namespace starling::test
