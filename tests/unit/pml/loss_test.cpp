// SPDX-License-Identifier: BSD-3-Clause
// Peers that go away, that nothing reaches, and first contact.
#include "tests/unit/pml/heard.hpp"
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

TEST(Loss, whatever_needs_the_lost_peer_ends_and_the_rest_goes_on) {
  for (const GetMode get : {GetMode::none, GetMode::later}) {
    PairOptions options;
    options.capacity = 4;
    options.get = get;
    Config config;
    config.get_chunk_bytes = 1000;
    Job job(3, options, get == GetMode::none ? Large::ring : Large::get, config);
    auto named = job.irecv(0, 1, 1, 8);
    auto any = job.irecv(0, kAny, 2, 8);
    auto other = job.irecv(0, 2, 1, 8);
    auto incoming = job.isend(1, 0, 5, filled(50'000, 1));
    auto receiving = job.irecv(0, 1, 5, 50'000);
    job.at(0).progress();
    auto announced = job.isend(0, 1, 3, filled(9000, 1));
    auto sync = job.isend(0, 1, 3, filled(9, 1), Mode::synchronous);
    std::vector<OpPtr> queued;
    for (int i = 0; i < 6; ++i) queued.push_back(job.isend(0, 1, 4, filled(100, 1)));
    ASSERT_FALSE(queued.back()->complete());
    ASSERT_TRUE(job.at(0).send({0, 1}, kOther, {}));
    job.network.at(0).lose(1);
    for (int round = 0; round < 5; ++round) job.at(0).progress();
    for (const Op* op : {named.get(), receiving.get(), announced.get(), sync.get(), queued.back().get()}) {
      ASSERT_TRUE(op->complete());
      EXPECT_EQ(op->status().fault, Fault::peer_lost);
    }
    EXPECT_EQ(named->status().source, Rank{1});
    EXPECT_FALSE(any->complete() || other->complete());
    EXPECT_TRUE(job.at(0).drained());

    auto later_send = job.isend(0, 1, 1, filled(8, 1));
    auto later_receive = job.irecv(0, 1, 1, 8);
    EXPECT_EQ(later_send->status().fault, Fault::peer_lost);
    EXPECT_EQ(later_receive->status().fault, Fault::peer_lost);
    EXPECT_EQ(later_receive->status().source, Rank{1});
    EXPECT_TRUE(later_send->complete() && later_receive->complete());
    EXPECT_FALSE(job.at(0).send({0, 1}, kOther, {}));

    auto a = job.isend(2, 0, 1, filled(8, 7));
    auto b = job.isend(2, 0, 2, filled(8, 8));
    job.at(2).progress();
    job.at(0).progress();
    EXPECT_EQ(other->data, filled(8, 7));
    EXPECT_EQ(any->data, filled(8, 8));
  }
}

TEST(Loss, what_the_transport_reads_ends_when_it_has_been_given_back) {
  PairOptions options;
  options.send_from = 500;
  Job job(2, options, Large::ring, {});
  auto receiving = job.irecv(1, 0, 2, 50'000);
  auto large = job.isend(0, 1, 2, filled(50'000, 1));
  job.at(1).progress();  // CTS
  job.at(0).progress();  // the first fragments
  auto eager = job.isend(0, 1, 1, filled(600, 1));
  ASSERT_FALSE(large->complete());
  job.network.at(0).lose(1);
  for (int round = 0; round < 5; ++round) job.at(0).progress();
  for (const Op* op : {large.get(), eager.get()}) {
    ASSERT_TRUE(op->complete());
    EXPECT_EQ(op->status().fault, Fault::peer_lost);
  }
  EXPECT_TRUE(job.at(0).drained());
}

TEST(Loss, what_has_arrived_can_still_be_received) {
  Job job(2);
  auto eager = job.isend(1, 0, 1, filled(8, 1));
  auto large = job.isend(1, 0, 2, filled(9000, 1));
  job.settle();
  job.network.at(0).lose(1);
  job.at(0).progress();
  auto first = job.irecv(0, 1, 1, 8);
  EXPECT_EQ(first->data, filled(8, 1));
  EXPECT_EQ(first->status().fault, Fault::none);
  auto second = job.irecv(0, kAny, 2, 9000);
  ASSERT_TRUE(second->complete());
  EXPECT_EQ(second->status().fault, Fault::peer_lost);
}

TEST(Loss, a_loss_seen_within_a_send_is_dealt_with) {
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{5000}, std::size_t{50'000}}) {
    Job job(2);
    auto first = job.isend(0, 1, 1, filled(bytes, 1), Mode::synchronous);
    auto receive = job.irecv(1, 0, 1, bytes);
    job.at(1).progress();
    job.network.at(0).lose(1, true);
    auto second = job.isend(0, 1, 2, filled(bytes, 2), Mode::synchronous);
    auto third = job.isend(0, 1, 2, filled(bytes, 2), Mode::synchronous);
    for (int round = 0; round < 4; ++round) job.at(0).progress();
    ASSERT_TRUE(first->complete() && second->complete() && third->complete());
    EXPECT_EQ(second->status().fault, Fault::peer_lost);
    EXPECT_EQ(third->status().fault, Fault::peer_lost);
    EXPECT_TRUE(job.at(0).drained());
  }
}

TEST(Loss, a_wildcard_receive_ends_when_nobody_else_is_left) {
  Job job(3);
  auto any = job.irecv(0, kAny, 1, 8);
  job.network.at(0).lose(1);
  job.at(0).progress();
  EXPECT_FALSE(any->complete());
  EXPECT_EQ(job[0].lost(*job.contexts[0], kAnySource), Fault::none);
  EXPECT_EQ(job[0].lost(*job.contexts[0], Rank{1}), Fault::peer_lost);
  job.network.at(0).lose(2);
  job.at(0).progress();
  ASSERT_TRUE(any->complete());
  EXPECT_EQ(any->status().fault, Fault::peer_lost);
  EXPECT_EQ(job[0].lost(*job.contexts[0], kAnySource), Fault::peer_lost);
  auto later = job.irecv(0, kAny, 1, 8);
  job[0].note_time(1);
  EXPECT_EQ(later->status().fault, Fault::peer_lost);
}

TEST(Loss, nobody_waits_for_the_living_in_a_collective_with_the_dead) {
  Job job(3);
  job.contexts[0] = job.open(0, kWorld.on(Channel::collective));
  auto before = job.irecv(0, 2, 1, 8);
  auto announced = job.isend(0, 2, 1, filled(50'000, 1));
  job.open(2, kWorld.on(Channel::collective));
  job.settle();
  ASSERT_FALSE(before->complete() || announced->complete());
  job.network.at(0).lose(1);
  job.settle();
  ASSERT_TRUE(before->complete() && announced->complete());
  EXPECT_EQ(before->status().fault, Fault::peer_lost);
  EXPECT_EQ(before->status().source, Rank{1}) << "the one that has ended";
  EXPECT_TRUE(announced->status().cancelled);
  auto later = job.irecv(0, 2, 2, 8);
  EXPECT_FALSE(later->complete());
  job[0].note_time(1);
  ASSERT_TRUE(later->complete());
  EXPECT_EQ(later->status().fault, Fault::peer_lost);
}

TEST(Loss, who_left_in_order_ends_no_collective_of_others) {
  Job job(3);
  job.contexts[0] = job.open(0, kWorld.on(Channel::collective));
  auto of_the_living = job.irecv(0, 2, 1, 8);
  auto of_the_gone = job.irecv(0, 1, 1, 8);
  job.at(0).sink().on_peer_lost({0, 1}, Error{Errc::peer_left, "test", "has left"});
  job.settle();
  job[0].note_time(1);
  EXPECT_FALSE(of_the_living->complete());
  EXPECT_EQ(of_the_gone->status().fault, Fault::peer_left);
}

TEST(Loss, a_peer_for_which_there_is_no_room_is_told_from_a_dead_one) {
  Job job(2);
  auto sync = job.isend(0, 1, 1, filled(8, 1), Mode::synchronous);
  auto receive = job.irecv(0, 1, 1, 8);
  testing::internal::CaptureStderr();
  job.at(0).sink().on_peer_lost({0, 1}, Error{Errc::no_space, "test", "the disk is full"});
  job.at(0).progress();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("the disk is full"), std::string::npos);
  auto later = job.isend(0, 1, 1, filled(9000, 1));
  for (const Op* op : {sync.get(), receive.get(), later.get()}) {
    ASSERT_TRUE(op->complete());
    EXPECT_EQ(op->status().fault, Fault::no_memory);
  }
}

TEST(Loss, a_peer_to_which_nothing_leads_is_not_said_to_have_ended) {
  for (const Errc code : {Errc::unreachable, Errc::peer_lost}) {
    Job job(2);
    auto receive = job.irecv(0, 1, 1, 8);
    testing::internal::CaptureStderr();
    job.at(0).sink().on_peer_lost({0, 1}, Error{code, "test", "a firewall"});
    job.at(0).progress();
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text.find("rank 1 cannot be reached any more: test: a firewall") != std::string::npos,
              code == Errc::unreachable)
        << text;
    EXPECT_EQ(receive->status().fault, Fault::peer_lost);
  }
}

TEST(Contact, a_peer_that_nothing_reaches_is_reported_once_with_all_reasons) {
  Job job(2);
  job.network.at(0).refusal = "the moon is in the way";
  testing::internal::CaptureStderr();
  auto first = job.isend(0, 1, 1, filled(8, 1));
  auto second = job.isend(0, 1, 1, filled(9000, 1));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(first->status().fault, Fault::unreachable);
  EXPECT_EQ(second->status().fault, Fault::unreachable);
  EXPECT_TRUE(first->complete() && second->complete());
  EXPECT_NE(text.find("pair: the moon is in the way"), std::string::npos);
  EXPECT_EQ(text.find("the moon"), text.rfind("the moon"));
  testing::internal::CaptureStderr();
  const Strip procs(2);
  const auto added = job.at(0).connect(procs);
  (void)testing::internal::GetCapturedStderr();
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().text().find("the moon"), std::string::npos);
}

TEST(Contact, a_transport_added_later_reaches_what_the_first_could_not) {
  Job job(2);
  PairNetwork second(2, {});
  job.network.at(0).refusal = "no";
  testing::internal::CaptureStderr();
  EXPECT_EQ(job.isend(0, 1, 1, filled(8, 1))->status().fault, Fault::unreachable);
  (void)testing::internal::GetCapturedStderr();
  for (std::uint32_t rank : {0u, 1u}) {
    second.at(rank).attach(job.at(rank).sink());
    job.at(rank).add_transport(second.at(rank));
  }
  auto receive = job.irecv(1, 0, 1, 8);
  auto send = job.isend(0, 1, 1, filled(8, 1));
  job.settle();
  EXPECT_EQ(receive->data, filled(8, 1));
}

struct Book final : btl::AddressBook {
  Result<btl::Found> address(ProcId peer, std::string_view transport) override {
    ++asked;
    EXPECT_EQ(transport, "pair");
    if (gave_up) return fail(Errc::timed_out, "book", "not published in time");
    if (!published) return btl::Found{btl::Found::What::not_yet, {}};
    return btl::Found{btl::Found::What::address, std::vector<std::byte>(3, std::byte(peer.rank))};
  }
  bool published = false;
  bool gave_up = false;
  int asked = 0;
};

TEST(Contact, an_address_is_asked_for_only_where_it_is_published_and_again_if_it_came_late) {
  PairOptions options;
  options.address = btl::AddressSource::published;
  Job job(2, options);
  Book book;
  book.gave_up = true;
  job.at(0).set_address_book(&book);
  testing::internal::CaptureStderr();
  EXPECT_EQ(job.isend(0, 1, 1, filled(8, 1))->status().fault, Fault::unreachable);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("not published in time"), std::string::npos);
  book.gave_up = false;
  book.published = true;
  EXPECT_EQ(job.isend(0, 1, 1, filled(8, 1))->status().fault, Fault::none);
  EXPECT_EQ(job.network.at(0).connected_with, std::vector<std::byte>(3, std::byte{1}));
  EXPECT_EQ(book.asked, 2);
  EXPECT_EQ(job.isend(0, 1, 1, filled(8, 1))->status().fault, Fault::none);
  EXPECT_EQ(book.asked, 2);
}

TEST(Contact, who_leaves_can_tell_those_it_has_never_answered) {
  for (const bool network : {true, false}) {
    PairOptions options;
    options.address = btl::AddressSource::published;
    options.reach = network ? btl::Reach::network : btl::Reach::node;
    Job job(3, options);
    Book book, sender;
    sender.published = true;
    job.at(0).set_address_book(&book);
    job.at(1).set_address_book(&sender);
    auto receive = job.irecv(0, 1, 1, 8);
    auto send = job.isend(1, 0, 1, filled(8, 1));
    job.settle();
    ASSERT_TRUE(receive->complete());
    job.at(0).set_idle(true);
    EXPECT_TRUE(job.network.at(0).connected_with.empty()) << "nobody waits for an address";
    book.published = true;
    job.at(0).set_idle(true);
    EXPECT_EQ(job.network.at(0).connected_with.size(), network ? 3u : 0u);
    EXPECT_EQ(book.asked, network ? 2 : 0) << "not for rank 2, which has sent nothing";
    job.at(0).set_idle(false);
    EXPECT_EQ(job.network.at(0).told_idle, (std::vector<bool>{true, true, false}));
  }
}

/// Progresses rank 0 until `done` or 60 s have passed.
template <class Done>
void progress_until(Job& job, Done done) {
  const Deadline deadline = Deadline::after_seconds(60);
  while (!done() && !deadline.passed()) (void)job.at(0).progress();
}

TEST(Contact, sends_to_a_peer_whose_address_is_not_there_yet_wait_in_order_and_block_nobody) {
  PairOptions options;
  options.address = btl::AddressSource::published;
  Job job(2, options);
  Book book, ready;
  ready.published = true;
  job.at(0).set_address_book(&book);
  job.at(1).set_address_book(&ready);
  auto first = job.isend(0, 1, 1, filled(8, 1));
  auto second = job.isend(0, 1, 1, filled(5000, 2));
  ASSERT_TRUE(job.at(0).send({0, 1}, kOther, {}));
  EXPECT_FALSE(first->complete());
  EXPECT_FALSE(job.at(0).drained());
  EXPECT_FALSE(job.at(0).may_sleep());
  progress_until(job, [&] { return book.asked > 3; });
  EXPECT_FALSE(first->complete());
  book.published = true;
  progress_until(job, [&] { return first->complete(); });
  auto one = job.irecv(1, 0, 1, 8);
  auto two = job.irecv(1, 0, 1, 5000);
  job.settle();
  EXPECT_EQ(one->data, filled(8, 1));
  EXPECT_EQ(two->data, filled(5000, 2));
  EXPECT_TRUE(job.at(0).drained());
}

TEST(Contact, sends_to_a_peer_that_never_publishes_fail_when_the_book_gives_up) {
  PairOptions options;
  options.address = btl::AddressSource::published;
  Job job(2, options);
  Book book;
  job.at(0).set_address_book(&book);
  auto send = job.isend(0, 1, 1, filled(8, 1));
  EXPECT_FALSE(send->complete());
  book.gave_up = true;
  testing::internal::CaptureStderr();
  progress_until(job, [&] { return send->complete(); });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("not published in time"), std::string::npos);
  ASSERT_TRUE(send->complete());
  EXPECT_EQ(send->status().fault, Fault::unreachable);
  EXPECT_TRUE(job.at(0).drained());
}

TEST(Contact, peers_are_made_on_first_touch_or_all_at_once) {
  Job job(40);
  EXPECT_EQ(job.at(0).counters().peers, 0u);
  (void)job.isend(0, 7, 1, filled(1, 1));
  job.settle();
  EXPECT_EQ(job.at(0).counters().peers, 1u);
  EXPECT_EQ(job.at(7).counters().peers, 1u);
  EXPECT_EQ(job.at(8).counters().peers, 0u);
  EXPECT_TRUE(job.at(8).connect(Strip(40)));
  EXPECT_EQ(job.at(8).counters().peers, 40u);
}

TEST(Contact, peers_made_all_at_once_are_reached_when_their_addresses_come) {
  PairOptions options;
  options.address = btl::AddressSource::published;
  Job job(2, options);
  Book book;
  job.at(0).set_address_book(&book);
  ASSERT_TRUE(job.at(0).connect(Strip(1, 1))) << "the address may come later";
  progress_until(job, [&] { return book.asked > 3; });  // nobody sends anything
  EXPECT_GT(book.asked, 3);
  book.published = true;
  progress_until(job, [&] { return !job.network.at(0).connected_with.empty(); });
  EXPECT_EQ(job.network.at(0).connected_with, std::vector<std::byte>(3, std::byte{1}));
}

TEST(Contact, pending_names_what_is_waited_for) {
  Job job(2);
  auto a = job.irecv(0, kAny, kAnyTagInt, 80);
  auto b = job.irecv(0, 1, 7, 80);
  auto c = job.isend(0, 1, 3, filled(5000, 1));
  job[0].note_time(77);
  auto d = job.irecv(0, 1, 8, 16);
  const auto all = job[0].pending();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].rank, kAnySource);
  EXPECT_EQ(all[0].tag, kAnyTag);
  EXPECT_TRUE(all[1].receive);
  EXPECT_EQ(to_int(all[1].rank), 1);
  EXPECT_EQ(to_int(all[1].tag), 7);
  EXPECT_EQ(all[1].bytes, 80u);
  EXPECT_EQ(all[1].since_ns, 77u);
  EXPECT_EQ(all[2].since_ns, 0u) << "posted after the time was told";
  EXPECT_FALSE(all[3].receive);
  EXPECT_EQ(all[3].bytes, 5000u);
  EXPECT_STREQ(all[3].stage, "not received yet");
  EXPECT_EQ(all[3].context, job.contexts[0]->id());
  job[0].close(job.contexts[0]);
}

TEST(Contact, pending_names_messages_for_which_the_transport_has_no_room) {
  PairOptions options;
  options.capacity = 2;
  Job job(2, options);
  std::vector<OpPtr> sends;
  for (int tag = 0; tag < 5; ++tag) sends.push_back(job.isend(0, 1, tag, filled(64, 1)));
  job[0].note_time(55);
  const auto all = job[0].pending();
  ASSERT_EQ(all.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(all[i].receive);
    EXPECT_EQ(to_int(all[i].rank), 1);
    EXPECT_EQ(to_int(all[i].tag), int(i) + 2);
    EXPECT_EQ(all[i].bytes, 64u);
    EXPECT_EQ(all[i].since_ns, 55u);
  }
  job.settle();
  EXPECT_TRUE(job[0].pending().empty());
}

}  // namespace
}  // namespace starling::pml::test
