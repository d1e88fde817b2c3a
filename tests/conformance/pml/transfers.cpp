// SPDX-License-Identifier: BSD-3-Clause
// Every pml: what was sent arrives, whatever its size, its layout and what the transport can do; and each
// request ends.
#include "tests/conformance/pml/suite.hpp"

namespace starling::conformance {
namespace {

using namespace pml;  // its words are MPI's

struct Route {
  const char* name;
  GetMode get;
};
const Route kRoutes[] = {{"a transport without get", GetMode::none},
                         {"gets that end at once", GetMode::done},
                         {"gets that end later", GetMode::later},
                         {"gets that fail", GetMode::fails},
                         {"gets that fail at the second", GetMode::fails_at_second},
                         {"gets that the probe refuses", GetMode::refuses_probe}};

PairOptions over(const Route& route) {
  PairOptions options;
  options.get = route.get;
  return options;
}

TEST_F(Pml, every_size_arrives_over_every_transport_in_either_order) {
  for (const Route& route : kRoutes) {
    PmlJob job(2, over(route));
    ASSERT_TRUE(job.works());
    const PairOptions& its = job.network.options;
    for (const std::size_t near : {std::size_t{1}, std::size_t{32}, its.eager, 2 * its.fragment,
                                   its.message_max, std::size_t{8000}, std::size_t{300'000}}) {
      for (const std::size_t size : {near - 1, near, near + 1}) {
        for (const Mode mode : {Mode::standard, Mode::synchronous, Mode::ready}) {
          auto early = job.irecv(1, 0, 1, size);
          auto first = job.isend(0, 1, 1, filled(size, size), mode);
          auto second = job.isend(0, 1, 2, filled(size, size + 1), mode);
          job.settle();
          auto late = job.irecv(1, 0, 2, size + 10);
          job.settle();
          ASSERT_TRUE(early->complete() && late->complete())
              << "a receive of " << size << " bytes does not end over " << route.name;
          ASSERT_TRUE(first->complete() && second->complete())
              << "a send of " << size << " bytes does not end over " << route.name;
          EXPECT_TRUE(early->data == filled(size, size))
              << size << " bytes arrive damaged over " << route.name;
          late->data.resize(size);
          EXPECT_TRUE(late->data == filled(size, size + 1))
              << size << " bytes arrive damaged over " << route.name;
          EXPECT_EQ(late->status().bytes, size) << "Status::bytes is the message's, not the buffer's";
          EXPECT_EQ(late->status().fault, Fault::none);
        }
      }
    }
    EXPECT_TRUE(job.drained()) << "all messages have arrived, but Peers::drained() is false";
    EXPECT_TRUE(job[0].pending().empty() && job[1].pending().empty()) << "pending() lists what has ended";
  }
}

TEST_F(Pml, a_synchronous_send_ends_only_when_it_is_matched) {
  PmlJob job(2);
  ASSERT_TRUE(job.works());
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{10'000}}) {
    auto send = job.isend(0, 1, 1, filled(size, 1), Mode::synchronous);
    job.settle();
    EXPECT_FALSE(send->complete()) << "a synchronous send of " << size
                                   << " bytes has ended before its receive was posted";
    auto receive = job.irecv(1, 0, 1, size);
    job.settle();
    EXPECT_TRUE(send->complete() && receive->complete());
  }
}

TEST_F(Pml, layouts_are_packed_and_unpacked_on_either_side) {
  const test::Strided triples(3, 5), sevens(7, 9);
  for (const Route& route : kRoutes) {
    for (const std::uint64_t count : {1u, 10u, 340u, 7000u}) {
      PmlJob job(2, over(route));
      ASSERT_TRUE(job.works());
      const std::size_t packed = 21 * count;
      for (const int sides : {1, 2, 3}) {  // bit 0: the sender's layout, bit 1: the receiver's
        auto send = job.make(0, 1, 1, filled(sides & 1 ? packed / 3 * 5 : packed, 6));
        if (sides & 1) send->request.buffer = {send->data.data(), packed, packed / 3, &triples};
        auto receive =
            job.make(1, 0, 1, std::vector<std::byte>(sides & 2 ? packed / 7 * 9 : packed, std::byte{1}));
        if (sides & 2) receive->request.buffer = {receive->data.data(), packed, packed / 7, &sevens};
        job[0].isend(send->request);
        job[1].irecv(receive->request);
        job.settle();
        ASSERT_TRUE(send->complete() && receive->complete()) << route.name;
        for (std::size_t i = 0; i < packed; ++i) {
          const std::size_t from = sides & 1 ? i / 3 * 5 + i % 3 : i;
          const std::size_t to = sides & 2 ? i / 7 * 9 + i % 7 : i;
          ASSERT_EQ(receive->data[to], test::pattern(6, from))
              << "byte " << i << " over " << route.name << (sides & 1 ? ", the sender's data have gaps" : "")
              << (sides & 2 ? ", the receiver's data have gaps" : "");
        }
      }
    }
  }
}

TEST_F(Pml, a_message_too_long_is_truncated_and_both_sides_end) {
  for (const Route& route : kRoutes) {
    for (const std::size_t size : {std::size_t{50}, std::size_t{50'000}}) {
      for (const std::size_t room : {std::size_t{0}, size / 2, size - 1}) {
        PmlJob job(2, over(route));
        ASSERT_TRUE(job.works());
        auto receive = job.irecv(1, 0, 1, room);
        auto send = job.isend(0, 1, 1, filled(size, 3));
        job.settle();
        ASSERT_TRUE(receive->complete() && send->complete())
            << size << " bytes for a buffer of " << room << " over " << route.name << ": a side does not end";
        EXPECT_EQ(receive->status().fault, Fault::truncated)
            << "a message longer than its buffer is truncated";
      }
    }
  }
}

TEST_F(Pml, a_receive_from_who_is_lost_ends_with_a_fault) {
  PmlJob job(2);
  ASSERT_TRUE(job.works());
  auto hello = job.isend(0, 1, 1, one(1));
  auto first = job.irecv(1, 0, 1, 1);
  EXPECT_TRUE(got(job, first, 1));
  auto receive = job.irecv(1, 0, 2, 8);
  job.network.at(1).lose(0);
  job.settle();
  job[1].note_time(1);
  ASSERT_TRUE(receive->complete()) << "a receive from a process that is lost waits for ever";
  EXPECT_NE(receive->status().fault, Fault::none)
      << "a receive from a process that is lost ends as if it had got something";
  EXPECT_NE(job[1].lost(*job.contexts[1], Rank{0}), Fault::none)
      << "lost() says that something may still come";
}

TEST_F(Pml, a_receive_can_be_cancelled_and_a_closed_context_cancels) {
  PmlJob job(2);
  ASSERT_TRUE(job.works());
  auto receive = job.irecv(1, 0, 1, 8);
  job[1].cancel(receive->request);
  job.settle();
  ASSERT_TRUE(receive->complete()) << "a receive that was cancelled does not end";
  EXPECT_TRUE(receive->status().cancelled);
  auto other = job.irecv(1, 0, 2, 8);
  job[1].close(job.contexts[1]);
  ASSERT_TRUE(other->complete()) << "close() completes the pending receives";
  EXPECT_TRUE(other->status().cancelled);
}

}  // namespace
}  // namespace starling::conformance
