// SPDX-License-Identifier: BSD-3-Clause
// Every btl: bytes that stay in other hands for a while: messages out of the sender's memory, received bytes
// that are kept, memory that is lent.

#include <deque>

#include "tests/conformance/btl/ending.hpp"

namespace starling::conformance {
namespace {

using test::make_message;

/// A message whose bytes the transport may read until it says so.
struct Lent : Ending {
  std::vector<std::byte> bytes;
  Post post = Post::again;
  [[nodiscard]] bool free() const { return post == Post::done || times_told != 0; }
};

TEST_F(Btl, send_from_reads_the_payload_until_it_says_so) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  job.endpoint(1, 0);
  btl::Endpoint& to_peer = job.endpoint(0, 1);
  const btl::Limits& limits = job.component(0).limits();
  std::deque<Lent> lent;
  std::vector<Sent> sent;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const std::size_t least =
        std::min(std::max<std::size_t>(limits.send_from_bytes, 100), limits.message_max_bytes);
    const std::size_t bytes = number % 3 == 0 ? limits.message_max_bytes : least + number;
    Lent& each = lent.emplace_back();
    each.bytes = make_message(number, std::min(bytes, limits.message_max_bytes));
    const Deadline deadline = patience();
    while (each.post == Post::again) {
      const std::size_t header = number % 5 * 8;
      each.post = to_peer.send_from(test::bytes_of(each.bytes, 0, header),
                                    test::bytes_of(each.bytes, header, each.bytes.size() - header), &each);
      ASSERT_EQ(each.times_told, 0)
          << "the Completion of send_from() was called within the call, or though it gave "
             "done";
      if (each.post == Post::again) job.progress();
      ASSERT_FALSE(deadline.passed()) << "send_from() gives again for ever, though everybody progresses";
    }
    sent.push_back({number, each.bytes.size()});
    // What is free again is used for something else.
    for (Lent& any : lent) {
      if (any.free()) std::fill(any.bytes.begin(), any.bytes.end(), std::byte{0xee});
    }
    if (number % 7 == 0) job.component(0).progress();  // it may be told before the message is delivered
  }
  ASSERT_NO_FATAL_FAILURE(receive(job, 1, sent));
  EXPECT_TRUE(progress_until(job, [&] {
    return std::all_of(lent.begin(), lent.end(), [](const Lent& each) { return each.free(); });
  })) << "a message has come, and its sender is never told that its memory is free";
  for (const Lent& each : lent) {
    EXPECT_EQ(each.times_told, each.post == Post::posted ? 1 : 0);
    EXPECT_TRUE(each.post == Post::done || each.ok);
  }
}

TEST_F(Btl, who_is_lost_gives_back_what_was_sent_from) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  const btl::Limits& limits = job.component(0).limits();
  if (limits.send_from_bytes == 0 || job.reach() != btl::Reach::network)
    GTEST_SKIP() << "it copies, or the segment tells of ends";
  btl::Endpoint& to_peer = job.endpoint(0, 1);
  job.endpoint(1, 0);
  ASSERT_NO_FATAL_FAILURE(send(job, 0, 1, {1, 50}, 0));
  ASSERT_NO_FATAL_FAILURE(receive(job, 1, {{1, 50}}));
  // The other process takes nothing: what is posted fills the way to it.
  std::deque<Lent> lent;
  for (int i = 0; i < 2000; ++i) {
    Lent& each = lent.emplace_back();
    each.bytes = make_message(2, limits.message_max_bytes);
    each.post = to_peer.send_from({}, each.bytes, &each);
    if (each.post == Post::again) break;
    job.component(0).progress();
  }
  if (lent.back().post == Post::again) lent.pop_back();
  job.end(1);
  bool early = false;
  EXPECT_TRUE(progress_until(job, [&] {
    for (const Lent& each : lent) early |= each.times_told != 0 && !each.ok && job.sink(0).lost.empty();
    return std::all_of(lent.begin(), lent.end(), [](const Lent& each) { return each.free(); });
  })) << "the peer is gone, and a Completion of send_from() is never called: its memory is never free";
  for (const Lent& each : lent) EXPECT_EQ(each.times_told, each.post == Post::posted ? 1 : 0);
  EXPECT_FALSE(early) << "a Completion of send_from() has failed before anybody said that the peer is lost";
}

TEST_F(Btl, kept_bytes_stay_until_they_are_released) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  if (!job.component(1).limits().can.has(btl::Capability::keep))
    GTEST_SKIP() << "it does not say that received bytes can be kept";
  job.endpoint(1, 0);
  job.sink(1).keep = true;
  std::vector<Sent> sent;
  const std::size_t most = job.component(0).limits().message_max_bytes;
  for (std::uint64_t number = 0; number < 300; ++number) {
    sent.push_back({number, number % 2 == 0 ? most : 100 + number});
    ASSERT_NO_FATAL_FAILURE(send(job, 0, 1, sent.back(), 16));
    if (number % 40 == 39) job.sink(1).release_one();
  }
  ASSERT_NO_FATAL_FAILURE(receive(job, 1, sent));
  EXPECT_NE(job.sink(1).kept_ever, 0u) << "Capability::keep, but no message could be kept";
  EXPECT_EQ(job.sink(1).kept_damaged(), "");
  job.sink(1).release_all();
  // What was released is used again.
  job.sink(1).messages.clear();
  const std::size_t before = job.sink(1).kept_ever;
  ASSERT_NO_FATAL_FAILURE(send(job, 0, 1, {1000, most}, 0));
  ASSERT_NO_FATAL_FAILURE(receive(job, 1, {{1000, most}}));
  EXPECT_EQ(job.sink(1).kept_ever, before + 1) << "all was released, and nothing can be kept any more";
  EXPECT_EQ(job.sink(1).kept_damaged(), "");
  job.sink(1).release_all();
}

TEST_F(Btl, lent_bytes_are_borrowed_in_order) {
  BtlJob job(2);
  ASSERT_TRUE(job.works());
  if (!job.component(0).limits().can.has(btl::Capability::lend))
    GTEST_SKIP() << "it does not say that memory can be lent";
  btl::Loans* const lender = job.endpoint(0, 1).loans();
  btl::Loans* const borrower = job.endpoint(1, 0).loans();
  ASSERT_NE(lender, nullptr) << "Capability::lend, but no Endpoint::loans()";
  ASSERT_NE(borrower, nullptr);
  auto offer = lender->offer();
  ASSERT_TRUE(offer) << offer.error().text();
  ASSERT_TRUE(borrower->accept(*offer)) << "what a peer offers is not accepted";
  const auto message = make_message(3, 300'000);
  std::vector<std::byte> copy(message.size());
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t lent = lender->lend(test::bytes_of(message, at, message.size() - at));
    ASSERT_NE(lent, 0u) << "nothing more can be lent, though all was borrowed";
    ASSERT_TRUE(borrower->borrow(std::span(copy).subspan(at, lent)));
    at += lent;
  }
  EXPECT_EQ(copy, message);
}

}  // namespace
}  // namespace starling::conformance
