// SPDX-License-Identifier: BSD-3-Clause
// Ports beside the pml's: each gets the messages of its own kinds, in order with the others, over one path
// and several; each hears of a loss; kinds that two want are refused.
#include "tests/unit/pml/heard.hpp"
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

using peer::KindFacts;
using peer::Order;
using peer::Peers;

std::vector<std::byte> words(std::size_t bytes, std::uint64_t seed) { return filled(bytes, seed); }

TEST(Ports, a_second_one_gets_its_messages_beside_the_pmls) {
  Job job(3);
  Heard heard(job.at(1)), more(job.at(1));
  constexpr std::array kMore{KindFacts{101, Order::free}, KindFacts{102, Order::kept}};
  ASSERT_TRUE(job.at(1).add(heard, kOtherKinds));
  ASSERT_TRUE(job.at(1).add(more, kMore));
  auto eager = job.irecv(1, 0, 1, 100), announced = job.irecv(1, 0, 2, 9000);
  auto first = job.isend(0, 1, 1, filled(100, 1));
  ASSERT_TRUE(job.at(0).send({0, 1}, kOther, words(40, 2)));
  ASSERT_TRUE(job.at(0).send({0, 1}, 102, words(0, 3)));
  auto second = job.isend(0, 1, 2, filled(9000, 4));
  job.settle();
  ASSERT_TRUE(job.at(2).send({0, 1}, 101, words(512, 5)));
  job.settle();
  EXPECT_EQ(eager->data, filled(100, 1));
  EXPECT_EQ(announced->data, filled(9000, 4));
  ASSERT_EQ(heard.messages.size(), 1u);
  EXPECT_EQ(heard.messages[0], words(40, 2));
  EXPECT_EQ(heard.last_from, (ProcId{0, 0}));
  ASSERT_EQ(more.messages.size(), 2u);
  EXPECT_EQ(more.messages[0].size(), 0u);
  EXPECT_EQ(more.messages[1], words(512, 5));
  EXPECT_EQ(more.last_from, (ProcId{0, 2}));
  EXPECT_TRUE(job.notes(1).empty());
  EXPECT_TRUE(job.drained());
}

TEST(Ports, its_first_message_makes_the_peer_that_the_pml_then_uses) {
  Job job(2);
  Heard heard(job.at(1));
  ASSERT_TRUE(job.at(1).add(heard, kOtherKinds));
  ASSERT_TRUE(job.at(0).send({0, 1}, kOther, words(8, 1)));
  job.settle();
  ASSERT_EQ(heard.messages.size(), 1u);
  EXPECT_EQ(job.at(1).counters().peers, 1u);
  auto send = job.isend(1, 0, 1, filled(8, 2));
  auto receive = job.irecv(0, 1, 1, 8);
  job.settle();
  EXPECT_EQ(receive->data, filled(8, 2));
  EXPECT_EQ(job.at(1).counters().peers, 1u);
  EXPECT_TRUE(send->complete());
}

/// Two networks to the same peer; what the second carries shows many passes later.
TEST(Ports, messages_whose_order_is_kept_arrive_in_it_over_several_paths) {
  PairOptions options;
  options.reach = btl::Reach::network;
  options.capacity = 4096;
  Config config;
  config.paths_max = 2;
  config.path_use = peer::PathUse::alternate;
  PairOptions later = options;
  later.delay = 20;
  PairNetwork slow(2, later);
  Job job(2, options, Large::ring, config);
  Heard heard(job.at(1)), free(job.at(1));
  constexpr std::array kFree{KindFacts{101, Order::free}};
  for (const std::uint32_t rank : {0u, 1u}) {
    slow.at(rank).attach(job.at(rank).sink());
    job.at(rank).add_transport(slow.at(rank));
  }
  ASSERT_TRUE(job.at(1).add(heard, kOtherKinds));
  ASSERT_TRUE(job.at(1).add(free, kFree));
  Heard sender(job.at(0));  // the sender knows their order, too
  ASSERT_TRUE(job.at(0).add(sender, std::array{kOtherKinds[0], kFree[0]}));
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(job.at(0).send({0, 1}, kOther, words(i, i)));
    ASSERT_TRUE(job.at(0).send({0, 1}, 101, words(3, i)));
  }
  job.settle(60);
  ASSERT_EQ(heard.messages.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(heard.messages[i], words(i, i)) << "an inversion";
  EXPECT_EQ(free.messages.size(), 100u);
  const auto numbered = std::uint8_t(peer::wire::Kind::numbered);
  EXPECT_EQ(job.network.at(0).sent(numbered) + slow.at(0).sent(numbered), 100u) << "the free ones have none";
  EXPECT_GT(slow.at(0).sent(numbered), 10u);
}

TEST(Ports, what_waits_for_room_is_sent_later_and_ends_with_the_peer) {
  PairOptions options;
  options.capacity = 2;
  Job job(2, options);
  Heard heard(job.at(1)), mine(job.at(0));
  ASSERT_TRUE(job.at(0).add(mine, kOtherKinds));
  ASSERT_TRUE(job.at(1).add(heard, kOtherKinds));
  for (std::size_t i = 0; i < 10; ++i) ASSERT_TRUE(job.at(0).send({0, 1}, kOther, words(i, i)));
  EXPECT_FALSE(job.at(0).drained());
  EXPECT_FALSE(job.at(0).may_sleep());
  job.settle();
  EXPECT_EQ(heard.messages.size(), 10u);
  EXPECT_TRUE(job.at(0).drained());
  for (std::size_t i = 0; i < 10; ++i) ASSERT_TRUE(job.at(0).send({0, 1}, kOther, words(i, i)));
  job.network.at(0).lose(1);
  job.at(0).progress();
  job.at(0).progress();
  EXPECT_TRUE(job.at(0).drained());
  const auto refused = job.at(0).send({0, 1}, kOther, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::peer_lost);
  EXPECT_NE(refused.error().text().find("heard: message to rank 1"), std::string::npos);
}

TEST(Ports, each_hears_of_a_loss_once_with_its_fault) {
  Job job(3);
  Heard heard(job.at(0));
  ASSERT_TRUE(job.at(0).add(heard, kOtherKinds));
  auto receive = job.irecv(0, 1, 1, 8);
  job.network.at(0).lose(1);
  job.at(0).progress();
  job.at(0).progress();
  job.at(0).sink().on_peer_lost({0, 1}, Error{Errc::peer_lost, "test", "again"});
  job.at(0).sink().on_peer_lost({0, 2}, Error{Errc::peer_left, "test", "in order"});
  EXPECT_EQ(heard.lost.size(), 1u) << "a report may come from within a send: only progress() tells the ports";
  job.at(0).progress();
  ASSERT_EQ(heard.lost.size(), 2u);
  EXPECT_EQ(heard.lost[0].proc, (ProcId{0, 1}));
  EXPECT_EQ(heard.lost[0].fault, Fault::peer_lost);
  EXPECT_EQ(heard.lost[1].fault, Fault::peer_left);
  EXPECT_EQ(receive->status().fault, Fault::peer_lost);
  job.at(0).remove(heard);
}

TEST(Ports, kinds_that_are_somebodys_are_refused_with_the_reason) {
  Job job(1);
  Heard heard(job.at(0)), other(job.at(0));
  ASSERT_TRUE(job.at(0).add(heard, kOtherKinds));
  const auto why = [&](std::uint8_t kind) {
    const auto added =
        job.at(0).add(other, std::array{KindFacts{103, Order::kept}, KindFacts{kind, Order::kept}});
    return added ? std::string() : added.error().text();
  };
  EXPECT_NE(why(kOther).find("kind 100, which are those of port \"heard\""), std::string::npos)
      << why(kOther);
  EXPECT_NE(why(std::uint8_t(wire::Kind::rts)).find("port \"pml\""), std::string::npos);
  EXPECT_NE(why(std::uint8_t(peer::wire::Kind::numbered)).find("the peers' own"), std::string::npos);
  EXPECT_NE(why(std::uint8_t(peer::wire::Kind::passed)).find("the peers' own"), std::string::npos);
  EXPECT_EQ(why(104), "") << "103 was not taken by those that were refused";
}

TEST(Ports, messages_of_nobodys_kind_and_broken_ones_are_noted_once_per_peer) {
  Job job(3);
  Heard heard(job.at(1));
  ASSERT_TRUE(job.at(1).add(heard, kOtherKinds));
  ASSERT_TRUE(job.at(0).send({0, 1}, 103, words(8, 1)));
  ASSERT_TRUE(job.at(0).send({0, 1}, 104, words(8, 1)));
  const peer::wire::Prefix lies{peer::wire::Kind{kOther}, 0, 0, 1};
  const auto bytes = peer::wire::bytes_of(lies);
  job.network.inject(2, 1, {bytes.begin(), bytes.end()});
  job.settle();
  EXPECT_TRUE(heard.messages.empty());
  const auto notes = job.notes(1);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "dropped a message of rank 0: its kind is unknown"), 1);
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "dropped a message of rank 2: it is shorter than it says"),
            1);
  job.at(1).remove(heard);
  EXPECT_TRUE(job.at(1).add(heard, kOtherKinds)) << "a port that left gives its kinds back";
}

}  // namespace
}  // namespace starling::pml::test
