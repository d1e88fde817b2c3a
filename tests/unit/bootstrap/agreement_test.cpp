// SPDX-License-Identifier: BSD-3-Clause
// Agreement on context ids.

#include "frameworks/bootstrap/agreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <set>

#include "tests/unit/bootstrap/agreement_harness.hpp"

namespace starling::bootstrap {
namespace {

using namespace agreement_test;

class AgreementOf : public testing::TestWithParam<std::uint32_t> {};

TEST_P(AgreementOf, n_members_gives_all_the_same_fresh_id_with_two_messages_per_edge) {
  const std::uint32_t size = GetParam();
  Network network;
  auto processes = processes_of(network, size);
  std::vector<std::uint32_t> ranks(size);
  for (std::uint32_t i = 0; i < size; ++i) ranks[i] = i;
  std::set<ContextId> seen;
  for (int round = 0; round < 3; ++round) {
    const auto ids = create_everywhere(network, processes, ranks, "tag");
    for (const ContextId id : ids) EXPECT_EQ(id, ids.front());
    EXPECT_TRUE(seen.insert(ids.front()).second) << "an id was given twice";
  }
  EXPECT_EQ(network.sent, 3u * 2u * (size - 1));
  for (auto& [rank, process] : processes) EXPECT_EQ(process->agreement.open(), 0u);
}
INSTANTIATE_TEST_SUITE_P(Sizes, AgreementOf, testing::Values(1u, 2u, 3u, 5u, 6u, 21u, 40u));

TEST(Agreement, overlapping_groups_at_once_get_different_ids_and_others_take_no_part) {
  Network network;
  auto processes = processes_of(network, 7);
  const std::vector<std::uint32_t> left = {5, 0, 2, 3};  // not ascending on purpose
  const std::vector<std::uint32_t> right = {3, 4, 2};
  std::vector<ContextId> left_ids, right_ids;
  // Ranks 2 and 3 are in both: they create one after the other, in different orders would deadlock any MPI
  // program.
  left_ids = create_everywhere(network, processes, left, "left");
  right_ids = create_everywhere(network, processes, right, "right");
  EXPECT_NE(left_ids.front(), right_ids.front());
  EXPECT_TRUE(network.inboxes[1].empty());
  EXPECT_TRUE(network.inboxes[6].empty());
}

TEST(Agreement, a_join_that_arrives_early_waits_for_its_receiver) {
  Network network;
  auto processes = processes_of(network, 2);
  std::thread early([&] {
    auto id = processes.at(1)->create(list({0, 1}), "t", Deadline::after_seconds(60));
    EXPECT_TRUE(id);
  });
  {
    std::unique_lock lock(network.mutex);
    network.changed.wait(lock, [&] { return !network.inboxes[0].empty(); });
    processes.at(0)->deliver();  // nobody has called create on rank 0 yet
    EXPECT_EQ(processes.at(0)->agreement.open(), 1u);
  }
  auto id = processes.at(0)->create(list({0, 1}), "t", Deadline::after_seconds(60));
  EXPECT_TRUE(id);
  early.join();
}

TEST(Agreement, a_member_that_never_comes_is_named_by_the_one_who_waits_for_it) {
  Network network;
  auto processes = processes_of(network, 3);
  const auto id = processes.at(0)->create(list({0, 1, 2}), "t", Deadline::after_ns(30'000'000));
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, Errc::timed_out);
  EXPECT_NE(id.error().detail.find("rank(s) 1, 2"), std::string::npos) << id.error().detail;
  const std::string hang_help =
      "a hint; hang help would say: creation of a communicator of 3 processes with tag 't': waits for "
      "rank(s) 1, 2";
  EXPECT_NE(id.error().detail.find(hang_help), std::string::npos) << id.error().detail;
}

TEST(Agreement, a_member_below_names_its_parent_and_says_what_time_was_given) {
  Network network;
  auto processes = processes_of(network, 3);
  const auto id = processes.at(2)->create(list({0, 1, 2}), "t", Deadline::after_ns(30'000'000));
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, Errc::timed_out);
  EXPECT_EQ(id.error().where, "creation of a communicator of 3 processes with tag 't'");
  for (const char* const part :
       {"gave up (parameter bootstrap_timeout): waits for rank 0 to pass on the new",
        "a member of the group has not made the call", "a hint; hang help would say"})
    EXPECT_NE(id.error().detail.find(part), std::string::npos) << part << ": " << id.error().detail;
}

TEST(Agreement, ends_at_once_on_every_member_when_one_has_died) {
  Network network;
  auto processes = processes_of(network, 7);
  network.dead = ProcId{0, 6};  // a leaf below rank 1: the others wait for rank 1 only
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    threads.emplace_back([&, rank] {
      const auto id =
          processes.at(rank)->create(list({0, 1, 2, 3, 4, 5, 6}), "t", Deadline::after_seconds(600));
      ASSERT_FALSE(id);
      EXPECT_EQ(id.error().code, Errc::peer_lost);
      EXPECT_NE(id.error().text().find("rank 6 has ended"), std::string::npos) << id.error().text();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Another member may have had its result and have ended since.
TEST(Agreement, who_waits_for_the_result_does_not_take_every_death_for_a_failure) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const ProcId parent{0, 0}, other{0, 1};
  Network network;
  auto processes = processes_of(network, 3);
  Consistency& consistency = processes.at(2)->consistency;
  const ProcListPtr members = list({0, 1, 2});
  const Creation creation{members, "t"};
  const Consistency::Call call(consistency, creation);
  network.now_ns = 5 * kSecond;
  EXPECT_FALSE(consistency.failure_before_result(call, parent));
  network.dead = other;
  EXPECT_TRUE(consistency.failure(call)) << "before it has told the parent";
  EXPECT_FALSE(consistency.failure_before_result(call, parent));
  network.now_ns += kSecond - 1;
  EXPECT_FALSE(consistency.failure_before_result(call, parent));
  network.now_ns += 1;
  EXPECT_TRUE(consistency.failure_before_result(call, parent)) << "the parent may be in no call at all";
}

TEST(Agreement, the_parents_death_and_its_word_end_a_wait_for_the_result_at_once) {
  const ProcId parent{0, 0}, other{0, 1};
  Network network;
  network.now_ns = 1;
  auto processes = processes_of(network, 3);
  Consistency& consistency = processes.at(2)->consistency;
  const ProcListPtr members = list({0, 1, 2});
  const Creation creation{members, "t"};
  const Consistency::Call call(consistency, creation);
  network.dead = parent;
  EXPECT_TRUE(consistency.failure_before_result(call, parent));
  network.dead = other;
  EXPECT_FALSE(consistency.failure_before_result(call, parent));
  const Error error{Errc::peer_lost, "t", "rank 1 has ended"};
  processes.at(0)->consistency.tell_end(call, error, {0, 2}, call.number());
  processes.at(2)->progress();
  EXPECT_TRUE(consistency.failure_before_result(call, parent));
}

TEST(Agreement, keeps_nothing_of_a_tag_that_was_used) {
  Network network;
  auto processes = processes_of(network, 3);
  for (int round = 0; round < 50; ++round)
    (void)create_everywhere(network, processes, {0, 1, 2}, "tag " + std::to_string(round));
  for (auto& [rank, process] : processes) EXPECT_EQ(process->agreement.open(), 0u);
}

TEST(Agreement, who_gave_up_can_come_again_with_the_same_tag) {
  Network network;
  auto processes = processes_of(network, 3);
  const std::vector<std::uint32_t> ranks = {0, 1, 2};
  // The leader and a leaf give up, each by itself; then all come.
  EXPECT_FALSE(processes.at(0)->create(list(ranks), "t", Deadline::after_ns(10'000'000)));
  EXPECT_FALSE(processes.at(2)->create(list(ranks), "t", Deadline::after_ns(10'000'000)));
  EXPECT_FALSE(processes.at(2)->create(list(ranks), "t", Deadline::after_ns(10'000'000)));
  const auto ids = create_everywhere(network, processes, ranks, "t");
  for (const ContextId id : ids) EXPECT_EQ(id, ids.front());
  for (auto& [rank, process] : processes) EXPECT_EQ(process->agreement.open(), 0u);
}

TEST(Agreement, a_withdrawn_join_does_not_count) {
  Network network;
  auto processes = processes_of(network, 2);
  EXPECT_FALSE(processes.at(1)->create(list({0, 1}), "t", Deadline::after_ns(10'000'000)));
  const auto id = processes.at(0)->create(list({0, 1}), "t", Deadline::after_ns(10'000'000));
  ASSERT_FALSE(id) << "rank 1 does not wait any more";
  EXPECT_NE(id.error().detail.find("rank(s) 1"), std::string::npos) << id.error().detail;
  EXPECT_EQ(processes.at(0)->agreement.open(), 0u);
}

TEST(Agreement, nothing_is_kept_of_a_join_that_was_withdrawn) {
  Network network;
  auto processes = processes_of(network, 2);
  EXPECT_FALSE(processes.at(1)->create(list({0, 1}), "t", Deadline::after_ns(10'000'000)));
  EXPECT_EQ(network.sent, 2u) << "a join and its withdrawal";
  processes.at(0)->progress();
  EXPECT_EQ(processes.at(0)->agreement.open(), 0u);
}

TEST(Agreement, who_has_not_joined_withdraws_nothing) {
  Network network;
  auto processes = processes_of(network, 7);
  EXPECT_FALSE(processes.at(1)->create(test::run(0, 7), "t", Deadline::after_ns(10'000'000)));
  EXPECT_EQ(network.sent, 0u) << "it has waited for rank 6";
}

TEST(Agreement, who_joins_again_replaces_its_join) {
  Network network;
  auto processes = processes_of(network, 2);
  EXPECT_FALSE(processes.at(1)->create(list({1, 0}), "t", Deadline::after_ns(10'000'000)));
  std::erase_if(network.inboxes[0], [](const Network::Mail& mail) {  // a withdrawal that could not be sent
    AgreementMessage message;
    if (!mail.block) std::memcpy(&message, mail.bytes.data(), sizeof message);
    return mail.block || message.kind != AgreementMessage::kJoin;
  });
  ASSERT_EQ(network.inboxes[0].size(), 1u);
  std::thread again([&] {
    const auto id = processes.at(1)->create(list({0, 1}), "t", Deadline::after_seconds(60));
    EXPECT_TRUE(id) << id.error().text();
  });
  {
    std::unique_lock lock(network.mutex);
    network.changed.wait(lock, [&] { return network.inboxes[0].size() == 2; });
  }
  const auto id = processes.at(0)->create(list({0, 1}), "t", Deadline::after_seconds(60));
  EXPECT_TRUE(id) << id.error().text();
  again.join();
}

TEST(Agreement, members_that_wait_end_with_the_one_that_gives_up) {
  Network network;
  auto processes = processes_of(network, 3);
  std::thread waits([&] {
    const auto id = processes.at(1)->create(list({0, 1, 2}), "t", Deadline::after_seconds(600));
    ASSERT_FALSE(id);
    EXPECT_NE(id.error().text().find("rank(s) 2"), std::string::npos) << id.error().text();
  });
  {
    std::unique_lock lock(network.mutex);
    network.changed.wait(lock, [&] { return !network.inboxes[0].empty(); });
  }
  EXPECT_FALSE(processes.at(0)->create(list({0, 1, 2}), "t", Deadline::after_ns(10'000'000)));
  waits.join();
  EXPECT_EQ(processes.at(1)->agreement.open(), 0u);
}

TEST(Agreement, members_that_wait_end_when_another_one_cannot_be_told_the_result) {
  for (const std::uint32_t deaf : {1u, 2u, 3u}) {
    Network network;
    auto processes = processes_of(network, 4);
    processes.at(0)->hears = [deaf](ProcId to) { return to.rank != deaf; };
    std::vector<std::thread> members;
    for (const std::uint32_t rank : {1u, 2u, 3u}) {
      members.emplace_back([&, rank] {
        const auto id = processes.at(rank)->create(list({0, 1, 2, 3}), "t", Deadline::after_seconds(60));
        if (!id) {
          EXPECT_NE(id.error().text().find("hears nothing"), std::string::npos) << id.error().text();
        }
        EXPECT_EQ(processes.at(rank)->agreement.open(), 0u);
      });
    }
    EXPECT_FALSE(processes.at(0)->create(list({0, 1, 2, 3}), "t", Deadline::after_seconds(60)));
    EXPECT_EQ(processes.at(0)->agreement.open(), 0u);
    for (std::thread& member : members) member.join();
  }
}

TEST(Agreement, a_time_out_says_what_the_other_waits_for) {
  Network network;
  auto processes = processes_of(network, 2);
  std::thread other([&] {
    EXPECT_FALSE(processes.at(1)->create(list({0, 1}), "b", Deadline::after_ns(900'000'000)));
  });
  const auto id = processes.at(0)->create(list({0, 1}), "a", Deadline::after_ns(100'000'000));
  ASSERT_FALSE(id);
  EXPECT_NE(id.error().text().find("rank 1 waits in: creation of a communicator of 2 processes with tag 'b'"),
            std::string::npos)
      << id.error().text();
  other.join();
}

TEST(Agreement, of_failures_told_before_a_call_the_last_64_are_kept) {
  Network network;
  Process process(network, 1);
  const Worlds worlds;
  const ContextId code{std::uint64_t{static_cast<std::uint32_t>(Errc::bad_parameter)} << 32 | 0xffffffffu};
  for (int i = 0; i <= 64; ++i) {
    const std::string tag = std::to_string(i);
    const SharedBytes text = share_bytes({std::byte{'n'}, std::byte{'o'}});
    const Block told{BlockKind::failed, group_key(worlds, *list({0, 1}), tag), code, 0, 1, text};
    EXPECT_TRUE(process.consistency.take(ProcId{0, 0}, told));
  }
  for (const char* const tag : {"1", "64"}) {
    const auto id = process.create(list({0, 1}), tag, Deadline::after_seconds(60));
    ASSERT_FALSE(id);
    EXPECT_EQ(id.error().code, Errc::bad_parameter) << tag << ": " << id.error().text();
  }
  const auto forgotten = process.create(list({0, 1}), "0", Deadline::after_ns(10'000'000));
  ASSERT_FALSE(forgotten);
  EXPECT_EQ(forgotten.error().code, Errc::timed_out) << forgotten.error().text();
}

TEST(Agreement, who_has_told_of_a_failure_is_not_told_of_it) {
  // It may have come again with the same tag, and the failure would end that call.
  Network network;
  Process process(network, 1);
  const ContextId code{std::uint64_t{static_cast<std::uint32_t>(Errc::bad_parameter)} << 32 | 0xffffffffu};
  const SharedBytes text = share_bytes({std::byte{'n'}, std::byte{'o'}});
  const Block told{BlockKind::failed, group_key(Worlds(), *test::run(0, 7), "t"), code, 0, 1, text};
  EXPECT_TRUE(process.consistency.take(ProcId{0, 0}, told));
  EXPECT_FALSE(process.create(test::run(0, 7), "t", Deadline::after_seconds(60)));
  std::vector<std::uint32_t> heard;
  for (const auto& [rank, inbox] : network.inboxes) {
    for (const Network::Mail& mail : inbox)
      if (mail.block && mail.block->kind == BlockKind::failed) heard.push_back(rank);
  }
  EXPECT_FALSE(heard.empty()) << "rank 6, which is below, hears of it";
  EXPECT_EQ(std::count(heard.begin(), heard.end(), 0u), 0);
}

TEST(Agreement, malformed_messages_are_ignored) {
  Network network;
  Process process(network, 0);
  const std::byte garbage[7] = {};
  process.agreement.on_control(ProcId{0, 1}, garbage);
  AgreementMessage message;
  message.kind = 99;
  process.agreement.on_control(ProcId{0, 1}, std::as_bytes(std::span<AgreementMessage, 1>(&message, 1)));
  EXPECT_EQ(process.agreement.open(), 0u);
}

TEST(ContextIds, of_different_leaders_and_channels_differ) {
  Network network;
  Process first(network, 0), second(network, 1);
  const ContextId a = *first.agreement.next_context_id();
  const ContextId b = *first.agreement.next_context_id();
  const ContextId c = *second.agreement.next_context_id();
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a.on(Channel::collective), a.on(Channel::point_to_point));
  EXPECT_EQ(a.on(Channel::collective).on(Channel::point_to_point), a);
}

}  // namespace
}  // namespace starling::bootstrap
