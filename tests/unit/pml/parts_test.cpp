// SPDX-License-Identifier: BSD-3-Clause
// Eager messages that go in parts: matched at once, put together, cut short, broken off.
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

PairOptions in_parts(std::size_t capacity = 64) {
  PairOptions options;
  options.part = 100;
  options.parts_above = 200;
  options.parted = 4000;
  options.capacity = capacity;
  return options;
}

constexpr auto kFirst = static_cast<std::uint8_t>(wire::Kind::parted);
constexpr auto kNext = static_cast<std::uint8_t>(wire::Kind::part);
constexpr auto kRts = static_cast<std::uint8_t>(wire::Kind::rts);

TEST(Parts, a_message_goes_in_parts_between_the_two_limits) {
  Job job(2, in_parts());
  for (const std::size_t bytes : {std::size_t{200}, std::size_t{201}, std::size_t{4000}, std::size_t{4001}}) {
    auto receive = job.irecv(1, 0, 1, bytes);
    auto send = job.isend(0, 1, 1, filled(bytes, bytes));
    EXPECT_EQ(send->complete(), bytes <= 4000) << "who sends eagerly waits for nobody";
    job.settle();
    ASSERT_TRUE(send->complete() && receive->complete()) << bytes;
    EXPECT_EQ(receive->data, filled(bytes, bytes));
    EXPECT_EQ(receive->status().bytes, bytes);
    EXPECT_EQ(receive->status().source, Rank{0});
  }
  EXPECT_EQ(job.network.at(0).sent(kFirst), 2u);
  // The rest of 201 is no part of its own; 4000 are 40.
  EXPECT_EQ(job.network.at(0).sent(kNext), 1u + 39u);
  EXPECT_EQ(job.network.at(0).sent(kRts), 1u);
  EXPECT_TRUE(job.notes(1).empty());
}

TEST(Parts, a_synchronous_message_goes_whole_or_is_announced) {
  Job job(2, in_parts());
  auto whole = job.isend(0, 1, 1, filled(1000, 1), Mode::synchronous);
  auto announced = job.isend(0, 1, 1, filled(3000, 2), Mode::synchronous);
  job.settle();
  EXPECT_FALSE(whole->complete() || announced->complete());
  auto first = job.irecv(1, 0, 1, 1000);
  auto second = job.irecv(1, 0, 1, 3000);
  job.settle();
  ASSERT_TRUE(whole->complete() && announced->complete());
  EXPECT_EQ(second->data, filled(3000, 2));
  EXPECT_EQ(job.network.at(0).sent(kFirst), 0u);
}

TEST(Parts, what_nobody_waits_for_is_there_when_its_last_part_is) {
  Job job(2, in_parts(3));
  auto send = job.isend(0, 1, 7, filled(2000, 1));
  auto behind = job.isend(0, 1, 7, filled(8, 2));
  ASSERT_FALSE(send->complete()) << "three parts fill the transport";
  job.at(1).progress();
  EXPECT_FALSE(job[1].probe(*job.contexts[1], kAnySource, kAnyTag, nullptr));
  auto late = job.irecv(1, kAny, 7, 2000);  // posted between the parts
  EXPECT_FALSE(late->complete());
  job.settle();
  ASSERT_TRUE(send->complete() && behind->complete() && late->complete());
  EXPECT_EQ(late->data, filled(2000, 1));
  Status seen;
  ASSERT_TRUE(job[1].probe(*job.contexts[1], kAnySource, kAnyTag, &seen));
  EXPECT_EQ(seen.bytes, 8u);
}

TEST(Parts, a_send_that_has_begun_is_not_taken_back) {
  Job job(2, in_parts(3));
  auto send = job.isend(0, 1, 7, filled(2000, 1));
  auto behind = job.isend(0, 1, 7, filled(8, 2));
  job[0].cancel(send->request);
  job[0].cancel(behind->request);
  EXPECT_TRUE(behind->complete() && behind->status().cancelled);
  auto receive = job.irecv(1, 0, 7, 2000);
  job.settle();
  ASSERT_TRUE(send->complete() && receive->complete());
  EXPECT_FALSE(send->status().cancelled);
  EXPECT_EQ(receive->data, filled(2000, 1));
}

TEST(Parts, a_receive_that_is_too_short_gets_what_fits) {
  Job job(2, in_parts());
  auto posted = job.irecv(1, 0, 1, 250);
  auto none = job.irecv(1, 0, 1, 0);
  auto first = job.isend(0, 1, 1, filled(1000, 1));
  auto second = job.isend(0, 1, 1, filled(1000, 2));
  auto third = job.isend(0, 1, 1, filled(1000, 3));
  job.settle();
  auto late = job.irecv(1, 0, 1, 250);
  ASSERT_TRUE(posted->complete() && none->complete() && late->complete());
  for (const Op* op : {posted.get(), none.get(), late.get()}) {
    EXPECT_EQ(op->status().fault, Fault::truncated);
    EXPECT_EQ(op->request.total, 1000u);
    EXPECT_EQ(op->status().bytes, op->data.size());
  }
  auto expected = filled(1000, 1);
  expected.resize(250);
  EXPECT_EQ(posted->data, expected);
}

TEST(Parts, elements_that_lie_apart_are_packed_and_unpacked) {
  Job job(2, in_parts());
  const Strided layout(8, 24);
  auto receive = job.make(1, 0, 1, std::vector<std::byte>(24 * 100));
  receive->request.buffer = {receive->data.data(), 800, 100, &layout};
  job[1].irecv(receive->request);
  const auto from = filled(24 * 100, 5);
  auto send = job.make(0, 1, 1, from);
  send->request.buffer = {send->data.data(), 800, 100, &layout};
  job[0].isend(send->request);
  job.settle();
  ASSERT_TRUE(receive->complete());
  EXPECT_GT(job.network.at(0).sent(kNext), 0u);
  for (std::size_t at = 0; at < from.size(); ++at) {
    ASSERT_EQ(receive->data[at], at % 24 < 8 ? from[at] : std::byte{0}) << at;
  }
}

TEST(Parts, credit_comes_back_once_whatever_becomes_of_the_message) {
  Config config;
  config.unexpected_max = 1;  // a window of 16 KiB
  Job job(2, in_parts(), Large::ring, config);
  const ContextId other = ContextId::make(2, 1);
  Context* const theirs = job.open(0, other);
  std::vector<OpPtr> sends;
  for (int round = 0; round < 60; ++round) {
    auto matched = job.irecv(1, 0, 1, 3000);
    sends.push_back(job.isend(0, 1, 1, filled(3000, 1)));
    sends.push_back(job.isend(0, 1, 2, filled(3000, 2)));
    job.settle();
    auto kept = job.irecv(1, 0, 2, 3000);
    ASSERT_TRUE(matched->complete() && kept->complete());
    EXPECT_EQ(kept->data, filled(3000, 2));
  }
  // Parked until the context opens, and refused once it has been closed.
  sends.push_back(job.make(0, 1, 1, filled(3000, 3)));
  sends.back()->request.context = theirs;
  job[0].isend(sends.back()->request);
  job.settle();
  Context* const ours = job.open(1, other);
  auto parked = job.make(1, 0, 1, std::vector<std::byte>(3000));
  parked->request.context = ours;
  job[1].irecv(parked->request);
  EXPECT_EQ(parked->data, filled(3000, 3));
  job[1].close(ours);
  for (int round = 0; round < 60; ++round) {
    sends.push_back(job.make(0, 1, 1, filled(3000, 3)));
    sends.back()->request.context = theirs;
    job[0].isend(sends.back()->request);
    job.settle();
  }
  for (const OpPtr& send : sends) EXPECT_TRUE(send->complete());
  EXPECT_EQ(job.network.at(0).sent(kRts), 0u) << "the credit was always enough";
  EXPECT_EQ(job[1].counters().unexpected_bytes, 0u);
}

TEST(Parts, a_small_window_lets_only_short_ones_go_at_once) {
  PairOptions options = in_parts();
  options.parted = 8000;
  Config config;
  config.unexpected_max = 1;  // a window of 16 KiB, of which a message takes a quarter
  Job job(2, options, Large::ring, config);
  auto receive = job.irecv(1, 0, 1, 5000);
  auto send = job.isend(0, 1, 1, filled(5000, 1));
  EXPECT_FALSE(send->complete());
  job.settle();
  ASSERT_TRUE(send->complete() && receive->complete());
  EXPECT_EQ(job.network.at(0).sent(kFirst), 0u);
}

TEST(Parts, a_loss_between_two_parts_ends_both_sides) {
  for (const bool posted : {true, false}) {
    Job job(2, in_parts(3));
    OpPtr receive;
    if (posted) receive = job.irecv(1, 0, 7, 2000);
    auto send = job.isend(0, 1, 7, filled(2000, 1));
    job.at(1).progress();
    job.network.at(0).lose(1);
    job.network.at(1).lose(0);
    for (int round = 0; round < 4; ++round) job.progress();
    ASSERT_TRUE(send->complete());
    EXPECT_EQ(send->status().fault, Fault::peer_lost);
    if (posted) {
      ASSERT_TRUE(receive->complete());
      EXPECT_EQ(receive->status().fault, Fault::peer_lost);
    }
    EXPECT_EQ(job[1].counters().unexpected_bytes, 0u);
    EXPECT_TRUE(job.at(0).drained() && job.at(1).drained());
  }
}

TEST(Parts, nonsense_is_dropped_and_noted) {
  Job job(2, in_parts());
  auto receive = job.irecv(1, 0, 1, 1000);
  auto before = job.isend(0, 1, 2, filled(8, 1));  // so that the two know each other
  job.settle();
  const auto inject = [&](const auto& header, std::size_t payload) {
    std::vector<std::byte> message(sizeof header + payload);
    std::memcpy(message.data(), &header, sizeof header);
    job.network.inject(0, 1, message);
    job.at(1).progress();
  };
  const auto first = [](std::uint32_t part, std::uint64_t length) {
    return wire::Parted{{{wire::Kind::parted, 0, 0, part}, kWorld.bits, 1, 0}, length};
  };
  const auto next = [](std::uint32_t part) { return wire::Prefix{wire::Kind::part, 0, 0, part}; };
  inject(next(10), 10);                           // of no message
  inject(first(10, 100), 5);                      // shorter than it says
  inject(first(0, 100), 0);                       // empty
  inject(first(100, 10), 100);                    // longer than the whole
  inject(first(10, std::uint64_t{1} << 40), 10);  // more than any window
  EXPECT_FALSE(receive->complete());
  EXPECT_EQ(job.notes(1).size(), 1u);
  inject(first(10, 100), 10);
  inject(first(10, 100), 10);  // the one before has not ended
  inject(next(91), 91);        // more than is left
  EXPECT_FALSE(receive->complete());
  inject(next(90), 90);
  ASSERT_TRUE(receive->complete());
  EXPECT_EQ(receive->status().bytes, 100u);
  EXPECT_EQ(receive->status().fault, Fault::none);
}

}  // namespace
}  // namespace starling::pml::test
