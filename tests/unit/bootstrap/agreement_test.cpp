// SPDX-License-Identifier: BSD-3-Clause
// Agreement on context ids, with one thread per process and an in-memory courier.

#include "frameworks/bootstrap/agreement.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "params/decl.hpp"
#include "tests/conformance/bootstrap/lists.hpp"

namespace starling::bootstrap {
namespace {

using test::list;

/// All processes of a test and the messages between them. One mutex stands for every process's runtime lock.
struct Network {
  std::mutex mutex;
  std::condition_variable changed;
  struct Mail {
    ProcId from;
    std::vector<std::byte> bytes;
    std::optional<Block> block;
  };
  std::map<std::uint32_t, std::deque<Mail>> inboxes;
  std::uint64_t sent = 0;
  std::uint64_t now_ns = 0;  ///< 0: nobody looks around while waiting
  std::optional<ProcId> dead;
};

class Process final : public Courier {
 public:
  Process(Network& network, std::uint32_t rank, const Settings* settings = nullptr)
      : network_(network),
        self_{0, rank},
        consistency(*this, settings, nullptr, [this](ProcId to) { return reaches(to); }),
        agreement(*this, self_, nullptr, consistency) {}

  Result<void> send(ProcId to, std::span<const std::byte> message) override {
    if (!hears(to)) return fail(Errc::unreachable, "send", text_of(to) + " hears nothing");
    network_.inboxes[to.rank].push_back({self_, {message.begin(), message.end()}, {}});
    ++network_.sent;
    network_.changed.notify_all();
    return {};
  }
  Result<void> send_block(ProcId to, const Block& block) override {
    network_.inboxes[to.rank].push_back({self_, {}, block});
    network_.changed.notify_all();
    return {};
  }
  std::uint64_t clock_ns() const noexcept override { return network_.now_ns; }
  Result<void> pause(std::uint64_t, const std::function<std::string()>&) override {
    return fail(Errc::unsupported, "pause", "agreeing needs no pauses");
  }
  Result<void> wait(const std::function<bool()>& ready, Deadline deadline,
                    const std::function<std::string()>& what) override {
    while (true) {
      deliver();
      if (ready()) return {};
      if (deadline.passed()) return fail(Errc::timed_out, "wait", "a hint; hang help would say: " + what());
      network_.changed.wait_for(*lock_, std::chrono::milliseconds(2));
    }
  }
  std::optional<ProcId> dead_among(const ProcList& members) noexcept override {
    return network_.dead && members.find(*network_.dead) ? network_.dead : std::nullopt;
  }
  Result<void> fence(std::span<const std::uint32_t>, std::string_view, Deadline,
                     const std::function<bool()>&) override {
    return fail(Errc::unsupported, "fence", "agreeing needs no process manager");
  }

  Result<ContextId> create(const ProcListPtr& members, const std::string& tag, Deadline deadline = {}) {
    std::unique_lock lock(network_.mutex);
    lock_ = &lock;
    const Creation creation{members, tag};
    const Consistency::Call call(consistency, creation);
    return agreement.agree(call, deadline);
  }
  /// In no call: only what arrives is taken, as other calls of MPI do it.
  void progress() {
    const std::scoped_lock lock(network_.mutex);
    deliver();
  }
  void deliver() {
    auto& inbox = network_.inboxes[self_.rank];
    while (!inbox.empty()) {
      const Network::Mail mail = std::move(inbox.front());
      inbox.pop_front();
      if (mail.block) {
        EXPECT_TRUE(consistency.take(mail.from, *mail.block));
      } else {
        agreement.on_control(mail.from, mail.bytes);
      }
    }
  }

 private:
  Network& network_;
  ProcId self_;
  std::unique_lock<std::mutex>* lock_ = nullptr;

 public:
  std::function<bool(ProcId)> reaches = [](ProcId) { return true; };
  std::function<bool(ProcId)> hears = [](ProcId) { return true; };
  Consistency consistency;
  Agreement agreement;
};

/// Every rank of `ranks` creates at once; returns the ids.
std::vector<ContextId> create_everywhere(Network& network,
                                         std::map<std::uint32_t, std::unique_ptr<Process>>& processes,
                                         const std::vector<std::uint32_t>& ranks, const std::string& tag) {
  (void)network;
  std::vector<ContextId> ids(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] {
      auto id = processes.at(ranks[i])->create(list(ranks), tag, Deadline::after_seconds(60));
      ASSERT_TRUE(id) << id.error().text();
      ids[i] = *id;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ids;
}

std::map<std::uint32_t, std::unique_ptr<Process>> processes_of(Network& network, std::uint32_t count) {
  std::map<std::uint32_t, std::unique_ptr<Process>> processes;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    processes[rank] = std::make_unique<Process>(network, rank);
  return processes;
}

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
        if (!id) EXPECT_NE(id.error().text().find("hears nothing"), std::string::npos) << id.error().text();
        EXPECT_EQ(processes.at(rank)->agreement.open(), 0u);
      });
    }
    EXPECT_FALSE(processes.at(0)->create(list({0, 1, 2, 3}), "t", Deadline::after_seconds(60)));
    EXPECT_EQ(processes.at(0)->agreement.open(), 0u);
    for (std::thread& member : members) member.join();
  }
}

/// Each rank with a list of its own; returns the errors.
std::vector<std::string> errors_of(std::map<std::uint32_t, std::unique_ptr<Process>>& processes,
                                   const std::vector<std::vector<std::uint32_t>>& lists) {
  std::vector<std::string> errors(lists.size());
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < lists.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const auto id = processes.at(rank)->create(list(lists[rank]), "t", Deadline::after_seconds(600));
      errors[rank] = id ? "none" : id.error().text();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

TEST(Agreement, different_orders_of_the_group_are_an_error_on_all_members) {
  for (const std::uint32_t other : {0u, 3u, 6u}) {
    Network network;
    auto processes = processes_of(network, 7);
    std::vector<std::vector<std::uint32_t>> lists(7, {0, 1, 2, 3, 4, 5, 6});
    lists[other] = {1, 0, 2, 3, 4, 5, 6};
    for (const std::string& error : errors_of(processes, lists))
      EXPECT_NE(error.find("in different orders"), std::string::npos) << error;
    for (auto& [rank, process] : processes) EXPECT_EQ(process->agreement.open(), 0u);
  }
}

TEST(Agreement, the_same_tag_can_follow_different_orders_at_once) {
  for (int round = 0; round < 20; ++round) {
    Network network;
    auto processes = processes_of(network, 7);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < 7; ++rank) {
      threads.emplace_back([&, rank] {
        const auto other = rank == 6 ? list({1, 0, 2, 3, 4, 5, 6}) : test::run(0, 7);
        const auto bad = processes.at(rank)->create(other, "t", Deadline::after_seconds(600));
        EXPECT_FALSE(bad);
        const auto good = processes.at(rank)->create(test::run(0, 7), "t", Deadline::after_seconds(600));
        EXPECT_TRUE(good) << good.error().text();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (auto& [rank, process] : processes) EXPECT_EQ(process->agreement.open(), 0u);
  }
}

TEST(Agreement, nothing_is_sent_to_a_parent_that_has_answered) {
  Network network;
  auto processes = processes_of(network, 2);
  for (const std::string& error : errors_of(processes, {{0, 1}, {1, 0}}))
    EXPECT_NE(error.find("rank 0 and rank 1 give the members of the group in different orders"),
              std::string::npos)
        << error;
  EXPECT_EQ(network.sent, 1u) << "a join, and no withdrawal: the parent may have left";
}

params::Registry registry_with(const std::string& value) {
  static constexpr params::Decl kDecls[] = {
      params::equal_everywhere(params::choice("way", "auto", "auto|always|never", "How.")),
      params::integer("own", "0", 0, 9, "Each process its own.")};
  params::Registry registry;
  params::Places places;
  if (!value.empty())
    places.environment = {"STARLING_MCA_way=" + value, "STARLING_MCA_own=" + std::to_string(value.size())};
  EXPECT_TRUE(registry.load(places));
  EXPECT_TRUE(registry.add("test", kDecls));
  return registry;
}

TEST(Agreement, different_parameters_are_an_error_on_all_that_names_both_origins) {
  const params::Registry usual = registry_with(""), unusual = registry_with("never");
  for (const std::uint32_t other : {0u, 1u, 6u}) {
    Network network;
    std::map<std::uint32_t, std::unique_ptr<Process>> processes;
    std::vector<Settings> settings;
    for (std::uint32_t rank = 0; rank < 7; ++rank)
      settings.push_back(Settings::of(rank == other ? unusual : usual, "v1", "rank " + std::to_string(rank)));
    for (std::uint32_t rank = 0; rank < 7; ++rank)
      processes[rank] = std::make_unique<Process>(network, rank, &settings[rank]);
    const std::string unusual_side =
        "'never' on rank " + std::to_string(other) + " (environment STARLING_MCA_way)";
    for (const std::string& error :
         errors_of(processes, std::vector(7, std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}))) {
      EXPECT_NE(error.find("way: "), std::string::npos) << error;
      EXPECT_NE(error.find(unusual_side), std::string::npos) << error;
      EXPECT_NE(error.find("(default)"), std::string::npos) << error;
      EXPECT_EQ(error.find("own"), std::string::npos) << error;
    }
  }
}

TEST(Agreement, who_asks_a_member_that_has_given_up_is_told_why) {
  const params::Registry usual = registry_with(""), unusual = registry_with("never");
  const Settings settings[] = {Settings::of(usual, "v1", "rank 0"), Settings::of(usual, "v1", "rank 1"),
                               Settings::of(unusual, "v1", "rank 2")};
  Network network;
  network.now_ns = 1;
  std::map<std::uint32_t, std::unique_ptr<Process>> processes;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    processes[rank] = std::make_unique<Process>(network, rank, &settings[rank]);
  bool apart = true;  // rank 0 has not begun, and nobody can send to it
  for (std::uint32_t rank = 1; rank < 3; ++rank)
    processes[rank]->reaches = [&](ProcId to) { return to.rank != 0 || !apart; };
  // Rank 1 hears of rank 2's settings by its question, and gives up.
  AgreementMessage join;
  const ProcListPtr all = test::run(0, 3);
  const Key key = group_key(Worlds(), *all, "t");
  join.key_high = key.high;
  join.key_low = key.low;
  join.settings = settings[2].hash();
  processes[1]->agreement.on_control(ProcId{0, 2}, std::as_bytes(std::span<AgreementMessage, 1>(&join, 1)));
  std::atomic<bool> ended = false;
  std::thread other([&] {
    while (!ended) processes[2]->progress();
  });
  EXPECT_FALSE(processes[1]->create(all, "t", Deadline::after_seconds(60)));
  apart = false;
  network.inboxes[0].clear();
  std::thread gave_up([&] {
    while (!ended) processes[1]->progress();
  });
  std::thread clock([&] {
    while (!ended) {
      const std::scoped_lock lock(network.mutex);
      network.now_ns += 1'000'000'000;
    }
  });
  const auto late = processes[0]->create(all, "t", Deadline::after_seconds(60));
  ended = true;
  other.join();
  gave_up.join();
  clock.join();
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().text().find("'never' on rank 2"), std::string::npos) << late.error().text();
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
