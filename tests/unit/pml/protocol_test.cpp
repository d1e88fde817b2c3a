// SPDX-License-Identifier: BSD-3-Clause
// Every protocol at every boundary: eager, synchronous, ring and get; contiguous and not; too long for the
// receive.
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

struct Route {
  const char* name;
  Large large;
  GetMode get;
};
const Route kRoutes[] = {{"ring", Large::ring, GetMode::none},
                         {"get", Large::get, GetMode::done},
                         {"get later", Large::get, GetMode::later},
                         {"get fails", Large::get, GetMode::fails},
                         {"get breaks", Large::get, GetMode::fails_at_second},
                         {"no get", Large::get, GetMode::refuses_probe}};

Job make_job(const Route& route, std::size_t capacity = 64) {
  PairOptions options;
  options.get = route.get;
  options.capacity = capacity;
  Config config;
  config.get_chunk_bytes = 1000;
  return Job(2, options, route.large, config);
}

std::vector<std::size_t> sizes() {
  const PairOptions options;
  std::vector<std::size_t> all{0, 1, 7, 8, 9, 31, 32, 33, 100};
  const std::size_t payload = options.fragment - sizeof(wire::Data);
  for (const std::size_t edge : {options.eager, payload * 2, payload * 3, options.message_max,
                                 std::size_t{8000}, std::size_t{100'000}}) {
    for (const std::size_t size : {edge - 1, edge, edge + 1}) all.push_back(size);
  }
  return all;
}

TEST(Protocol, the_sender_counts_each_message_under_the_way_it_took) {
  for (const Route& route : kRoutes) {
    Job job = make_job(route);
    for (const std::size_t size : {std::size_t{8}, std::size_t{8}, std::size_t{9000}}) {
      auto receive = job.irecv(1, 0, 1, size);
      auto send = job.isend(0, 1, 1, filled(size, size));
      job.settle();
      ASSERT_TRUE(receive->complete() && send->complete()) << route.name;
    }
    const auto all = job[0].traffic();
    ASSERT_EQ(all.size(), 1u) << route.name;
    const Traffic& sent = all[0].sent;
    const bool got = route.get == GetMode::done || route.get == GetMode::later;
    EXPECT_EQ(sent.eager.count, 2u) << route.name;
    EXPECT_EQ(sent.eager.bytes, 16u) << route.name;
    EXPECT_EQ(sent.get.count, got ? 1u : 0u) << route.name;
    EXPECT_EQ(sent.ring.count, got ? 0u : 1u) << route.name;
    // A get that breaks after a chunk of 1000 bytes leaves the rest to the ring.
    EXPECT_EQ(sent.get.bytes + sent.ring.bytes, route.get == GetMode::fails_at_second ? 8000u : 9000u)
        << route.name;
    const auto back = job[1].traffic();
    for (const PeerTraffic& peer : back) EXPECT_EQ(peer.sent.eager.count, 0u) << "answers are no messages";
  }
}

TEST(Protocol, a_message_that_its_receive_takes_nothing_of_counts_without_bytes) {
  for (const Route& route : kRoutes) {
    Job job = make_job(route);
    auto receive = job.irecv(1, 0, 1, 0);
    auto send = job.isend(0, 1, 1, filled(9000, 1));
    job.settle();
    ASSERT_TRUE(receive->complete() && send->complete()) << route.name;
    const Traffic sent = job[0].traffic().at(0).sent;
    EXPECT_EQ(sent.ring.count, 1u) << route.name;
    EXPECT_EQ(sent.eager.count + sent.get.count, 0u) << route.name;
    EXPECT_EQ(sent.ring.bytes + sent.get.bytes, 0u) << route.name;
  }
}

TEST(Protocol, a_rest_that_could_go_eagerly_is_one_piece) {
  PairOptions options;
  options.eager = 3000;
  options.fragment = 1000 + sizeof(wire::Data);
  for (const auto& [bytes, pieces] : {std::pair{5000u, 3u}, {5001u, 4u}, {3001u, 2u}}) {
    Job job(2, options, Large::ring);
    auto send = job.isend(0, 1, 1, filled(bytes, 1));
    auto receive = job.irecv(1, 0, 1, bytes);
    job.settle();
    ASSERT_TRUE(receive->complete() && send->complete()) << bytes;
    EXPECT_EQ(receive->data, filled(bytes, 1)) << bytes;
    EXPECT_EQ(job.network.at(0).sent(std::uint8_t(wire::Kind::data)), pieces) << bytes;
  }
}

TEST(Protocol, a_get_goes_only_between_transports_of_one_access_domain) {
  for (const std::uint64_t other : {0u, 7u, 8u}) {
    PairOptions options;
    options.get = GetMode::done;
    options.access_domains = {7, other};
    Job job(2, options, Large::get);
    for (const unsigned from : {0u, 1u}) {
      auto receive = job.irecv(1 - from, from, 1, 9000);
      auto send = job.isend(from, 1 - from, 1, filled(9000, from));
      job.settle();
      ASSERT_TRUE(receive->complete() && send->complete()) << other;
      EXPECT_EQ(receive->data, filled(9000, from)) << other;
      EXPECT_EQ(job[from].traffic()[0].sent.get.count, other == 7 ? 1u : 0u) << other;
    }
  }
}

TEST(Protocol, only_what_is_announced_to_a_peer_may_be_read_by_it) {
  Job job(3, {}, Large::get);
  const auto data = filled(9000, 1);
  auto send = job.isend(0, 1, 1, data);
  job.settle();
  const auto first = reinterpret_cast<std::uintptr_t>(send->data.data());
  const auto may = [&](std::uint32_t rank, std::uint64_t address, std::uint64_t key, std::size_t bytes) {
    return job.at(0).sink().announced({0, rank}, {address, key}, bytes);
  };
  const std::uint64_t key = send->request.order;
  EXPECT_TRUE(may(1, first, key, 9000) && may(1, first + 1000, key, 8000) && may(1, first + 8999, key, 1));
  EXPECT_FALSE(may(1, first, key, 9001));
  EXPECT_FALSE(may(1, first - 1, key, 10));
  EXPECT_FALSE(may(1, first + 9001, key, 0));
  EXPECT_FALSE(may(1, first, key, ~std::size_t{0}));
  EXPECT_FALSE(may(2, first, key, 9000)) << "announced to another";
  EXPECT_FALSE(may(1, first, key + 1, 9000));
  EXPECT_FALSE(may(1, first, 0, 9000));
  auto receive = job.irecv(1, 0, 1, 9000);
  job.settle();
  ASSERT_TRUE(receive->complete() && send->complete());
  EXPECT_FALSE(may(1, first, key, 9000)) << "it has been sent";
}

TEST(Protocol, every_size_arrives_by_every_way_in_either_order) {
  for (const Route& route : kRoutes) {
    Job job = make_job(route);
    for (const std::size_t size : sizes()) {
      for (const Mode mode : {Mode::standard, Mode::synchronous, Mode::ready}) {
        auto early = job.irecv(1, 0, 1, size);
        auto first = job.isend(0, 1, 1, filled(size, size), mode);
        auto second = job.isend(0, 1, 2, filled(size, size + 1), mode);
        job.settle();
        auto late = job.irecv(1, 0, 2, size + 10);
        job.settle();
        ASSERT_TRUE(early->complete() && late->complete() && first->complete() && second->complete())
            << route.name << " " << size;
        EXPECT_EQ(early->data, filled(size, size)) << route.name << " " << size;
        late->data.resize(size);
        EXPECT_EQ(late->data, filled(size, size + 1)) << route.name << " " << size;
        EXPECT_EQ(late->status().bytes, size);
        EXPECT_EQ(late->status().fault, Fault::none);
      }
    }
    EXPECT_TRUE(job.drained());
    EXPECT_TRUE(job[1].pending().empty());
  }
}

TEST(Protocol, a_synchronous_send_completes_only_when_matched) {
  Job job(2);
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{10'000}}) {
    auto send = job.isend(0, 1, 1, filled(size, 1), Mode::synchronous);
    job.settle();
    EXPECT_FALSE(send->complete());
    EXPECT_FALSE(job.drained());
    auto receive = job.irecv(1, 0, 1, size);
    job.settle();
    EXPECT_TRUE(send->complete() && receive->complete());
  }
}

TEST(Protocol, datatypes_are_packed_and_unpacked_on_either_side) {
  const Strided triples(3, 5), sevens(7, 9);
  for (const Route& route : kRoutes) {
    for (const std::uint64_t count : {1u, 10u, 340u, 7000u}) {
      Job job = make_job(route, 4);
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
          ASSERT_EQ(receive->data[to], pattern(6, from)) << route.name << " byte " << i;
        }
        if (sides & 2) {
          EXPECT_EQ(receive->data[7], std::byte{1});  // the gap
        }
      }
    }
  }
}

TEST(Protocol, a_message_too_long_is_truncated_and_both_sides_end) {
  for (const Route& route : kRoutes) {
    for (const bool posted : {false, true}) {
      for (const std::size_t size : {std::size_t{50}, std::size_t{1000}, std::size_t{50'000}}) {
        for (const std::size_t room : {std::size_t{0}, std::size_t{1}, size / 2, size - 1}) {
          Job job = make_job(route);
          OpPtr receive;
          if (posted) receive = job.irecv(1, 0, 1, room);
          auto send = job.isend(0, 1, 1, filled(size, 2), size == 50 ? Mode::synchronous : Mode::standard);
          job.settle();
          if (!posted) receive = job.irecv(1, 0, 1, room);
          job.settle();
          ASSERT_TRUE(send->complete() && receive->complete())
              << route.name << " " << size << " into " << room;
          EXPECT_EQ(receive->status().fault, Fault::truncated);
          EXPECT_EQ(receive->status().bytes, room);
          EXPECT_EQ(send->status().fault, Fault::none);
          const auto whole = filled(size, 2);
          EXPECT_TRUE(std::equal(receive->data.begin(), receive->data.end(), whole.begin()));
          auto next = job.irecv(1, 0, 1, 4);  // the pair goes on
          auto more = job.isend(0, 1, 1, filled(4, 3));
          job.settle();
          EXPECT_EQ(next->data, filled(4, 3));
          EXPECT_TRUE(job.drained());
        }
      }
    }
  }
}

TEST(Protocol, both_sides_send_large_at_once_through_tiny_queues) {
  for (const std::size_t capacity : {std::size_t{1}, std::size_t{2}}) {
    PairOptions options;
    options.capacity = capacity;
    options.again_percent = 30;
    options.delay = 2;
    Job job(3, options);
    std::vector<OpPtr> ops;
    for (int round = 0; round < 5; ++round) {
      for (int me = 0; me < 3; ++me) {
        for (int other = 0; other < 3; ++other) {
          ops.push_back(
              job.isend(std::uint32_t(me), other, round, filled(20'000, std::uint64_t(me * 3 + other))));
        }
      }
    }
    std::vector<OpPtr> receives;
    for (int round = 4; round >= 0; --round) {
      for (int me = 0; me < 3; ++me) {
        for (int other = 0; other < 3; ++other)
          receives.push_back(job.irecv(std::uint32_t(me), other, round, 20'000));
      }
    }
    job.settle(200);
    for (const OpPtr& op : ops) ASSERT_TRUE(op->complete());
    for (const OpPtr& op : receives) {
      ASSERT_TRUE(op->complete());
      const auto me = std::uint64_t(op->request.context->my_rank());
      EXPECT_EQ(op->data, filled(20'000, std::uint64_t(op->status().source) * 3 + me));
    }
  }
}

TEST(Protocol, lengths_beyond_32_bits_stay_whole) {
  // Only the envelope: the receive is short, so no more than 100 bytes move.
  Job job(2);
  std::vector<std::byte> memory = filled(100, 1);
  auto send = job.make(0, 1, 1, {});
  send->request.buffer = {memory.data(), (std::uint64_t{1} << 33) + 5, 0, nullptr};
  job[0].isend(send->request);
  job.settle();
  Status status;
  ASSERT_TRUE(job[1].probe(*job.contexts[1], Rank{0}, Tag{1}, &status));
  EXPECT_EQ(status.bytes, (std::uint64_t{1} << 33) + 5);
  auto receive = job.irecv(1, 0, 1, 100);
  job.settle();
  EXPECT_EQ(receive->data, memory);
  EXPECT_EQ(receive->status().fault, Fault::truncated);
  EXPECT_TRUE(send->complete());
}

TEST(Protocol, a_get_is_preferred_only_between_contiguous_buffers) {
  Job job = make_job(kRoutes[1]);
  auto plain = job.isend(0, 1, 1, filled(5000, 1));
  auto receive = job.irecv(1, 0, 1, 5000);
  job.settle();
  EXPECT_TRUE(receive->complete());
  const std::size_t gets = job.network.at(1).gets;
  EXPECT_GE(gets, 5u);  // chunks of 1000
  const Strided triples(3, 5);
  auto spread = job.make(1, 0, 1, std::vector<std::byte>(10'000));
  spread->request.buffer = {spread->data.data(), 5001, 1667, &triples};
  auto second = job.isend(0, 1, 1, filled(5001, 1));
  job[1].irecv(spread->request);
  job.settle();
  EXPECT_TRUE(spread->complete());
  EXPECT_EQ(job.network.at(1).gets, gets);
}

}  // namespace
}  // namespace starling::pml::test
