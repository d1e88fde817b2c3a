// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What every network btl must do beyond the suite for all btls. Layer: tests.
///
/// A test file instantiates the suite with its NetHarness. Transport::kInterfaceParam is the parameter that
/// chooses the network interface.

#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "tests/unit/btl/net_harness.hpp"

namespace starling::test {

/// Descriptors above the standard ones that a program started now would inherit.
inline std::vector<int> inheritable() {
  std::vector<int> found;
  for (int fd = 3; fd < 4096; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found.push_back(fd);
  }
  return found;
}

inline std::vector<void (*)(int)> handlers() {
  std::vector<void (*)(int)> found;
  for (int number : {SIGINT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    found.push_back(action.sa_handler);
  }
  return found;
}

template <class Harness>
class NetConformance : public testing::Test {
 protected:
  template <class Until>
  static bool progress_until(Harness& harness, unsigned processes, Until until) {
    const Deadline deadline = Deadline::after_seconds(60);
    while (!until()) {
      if (deadline.passed()) return false;
      for (unsigned rank = 0; rank < processes; ++rank) {
        if (harness.alive(rank)) harness.component(rank).progress();
      }
    }
    return true;
  }
  /// `rank` leaves while 0 goes on.
  static void leave(Harness& harness, unsigned rank) {
    std::atomic<bool> left = false;
    std::thread leaver([&] {
      harness.component(rank).set_idle(true);
      left = true;
    });
    while (!left) harness.component(0).progress();
    leaver.join();
  }
  static void exchange(Harness& harness, unsigned from, unsigned to, std::uint64_t number,
                       std::size_t bytes) {
    const auto before = harness.sink(to).messages.size();
    ASSERT_EQ(harness.endpoint(from, to).send({}, make_message(number, bytes)), Post::done);
    ASSERT_TRUE(progress_until(harness, 2, [&] { return harness.sink(to).messages.size() > before; }));
    EXPECT_EQ(harness.sink(to).messages.back().bytes, make_message(number, bytes));
    EXPECT_EQ(harness.sink(to).messages.back().from, (ProcId{0, from}));
  }
  /// Process 0 sends nothing, and sleeps where it may.
  static bool lost_to_one_who_waits(Harness& harness) {
    const Deadline deadline = Deadline::after_seconds(60);
    while (harness.sink(0).lost.empty() && !deadline.passed()) {
      if (harness.component(0).progress() == 0 && harness.component(0).begin_sleep())
        harness.component(0).end_sleep();
    }
    return !harness.sink(0).lost.empty();
  }

  /// Process 1 ends, and 0, which sends to it, is told so once and with this code.
  template <class Endpoint>
  static void expect_end(Harness& harness, Endpoint& to_peer, Errc why) {
    harness.end(1);
    // Whoever sends finds out; a small message may still be taken by the kernel.
    const auto message = make_message(3, 30'000);
    EXPECT_TRUE(progress_until(harness, 2, [&] {
      (void)to_peer.send({}, message);
      return !harness.sink(0).lost.empty();
    }));
    ASSERT_EQ(harness.sink(0).why_lost.size(), 1u);
    EXPECT_EQ(harness.sink(0).why_lost[0], why) << harness.sink(0).reasons[0];
  }
};

TYPED_TEST_SUITE_P(NetConformance);

TYPED_TEST_P(NetConformance, declares_what_it_needs) {
  TypeParam harness(2);
  const btl::Needs& needs = harness.component(0).needs();
  EXPECT_EQ(needs.address, btl::AddressSource::published);
  EXPECT_FALSE(needs.barrier_before_first_message);
  EXPECT_TRUE(needs.barrier_after_last_message);
  EXPECT_TRUE(needs.lazy_peers);
  EXPECT_EQ(harness.component(0).limits().fragment_bytes, btl::net::kFragmentBytes);
  EXPECT_FALSE(harness.component(0).address().empty());
  EXPECT_GE(harness.component(0).wait_fd(), 0);
}

TYPED_TEST_P(NetConformance, what_is_sent_before_the_peer_looks_arrives_when_it_looks) {
  TypeParam harness(2);
  constexpr std::size_t kMessages = 40;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(harness.endpoint(0, 1).send({}, make_message(i, 100 + i * 300)), Post::done) << i;
    harness.component(0).progress();
  }
  ASSERT_TRUE(this->progress_until(harness, 2, [&] { return harness.sink(1).messages.size() == kMessages; }));
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(harness.sink(1).messages[i].bytes, make_message(i, 100 + i * 300)) << i;
  }
}

TYPED_TEST_P(NetConformance, first_messages_that_cross_lose_nothing) {
  for (int trial = 0; trial < 10; ++trial) {
    TypeParam harness(2);
    const auto run = [&](unsigned me, unsigned other) {
      const auto message = make_message(me, 5000);
      const Deadline deadline = Deadline::after_seconds(60);
      while (harness.endpoint(me, other).send({}, message) != Post::done && !deadline.passed()) {
        harness.component(me).progress();
      }
      while (harness.sink(me).messages.empty() && !deadline.passed()) harness.component(me).progress();
    };
    std::thread second([&] { run(1, 0); });
    run(0, 1);
    second.join();
    ASSERT_TRUE(this->progress_until(harness, 2, [&] {
      return harness.sink(0).messages.size() == 1 && harness.sink(1).messages.size() == 1;
    }));
    EXPECT_EQ(harness.sink(0).messages[0].bytes, make_message(1, 5000));
    EXPECT_EQ(harness.sink(1).messages[0].bytes, make_message(0, 5000));
  }
}

TYPED_TEST_P(NetConformance, a_sleeper_is_woken_by_its_descriptor) {
  TypeParam harness(2);
  this->exchange(harness, 0, 1, 0, 8);
  constexpr std::uint64_t kMessages = 20;
  std::uint64_t slept = 0;
  std::thread receiver([&] {
    const Deadline deadline = Deadline::after_seconds(60);
    while (harness.sink(1).messages.size() < kMessages + 1 && !deadline.passed()) {
      if (harness.component(1).progress() != 0 || !harness.component(1).begin_sleep()) continue;
      pollfd descriptor{harness.component(1).wait_fd(), POLLIN, 0};
      if (::poll(&descriptor, 1, 60'000) > 0) ++slept;
      harness.component(1).end_sleep();
    }
  });
  for (std::uint64_t i = 1; i <= kMessages; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(i, 30)), Post::done);
    harness.component(0).progress();
  }
  receiver.join();
  ASSERT_EQ(harness.sink(1).messages.size(), kMessages + 1);
  EXPECT_GE(slept, 1u);
}

TYPED_TEST_P(NetConformance, two_sleepers_wake_each_other) {
  TypeParam harness(2);
  this->exchange(harness, 0, 1, 0, 8);
  this->exchange(harness, 1, 0, 0, 8);
  constexpr std::size_t kRounds = 200;
  std::atomic<std::size_t> unwoken = 0;
  const auto run = [&](unsigned me) {
    const Deadline deadline = Deadline::after_seconds(60);
    for (std::size_t round = 1; round <= kRounds && !deadline.passed(); ++round) {
      if (me == 0) {
        EXPECT_EQ(harness.endpoint(0, 1).send({}, make_message(round, 30)), Post::done);
      }
      while (harness.sink(me).messages.size() < round + 1 && !deadline.passed()) {
        if (harness.component(me).progress() != 0 || !harness.component(me).begin_sleep()) continue;
        pollfd descriptor{harness.component(me).wait_fd(), POLLIN, 0};
        const bool woken = ::poll(&descriptor, 1, 2000) > 0;
        harness.component(me).end_sleep();
        if (!woken && harness.component(me).progress() != 0) ++unwoken;
      }
      if (me == 1) {
        EXPECT_EQ(harness.endpoint(1, 0).send({}, make_message(round, 30)), Post::done);
      }
    }
  };
  std::thread second([&] { run(1); });
  run(0);
  second.join();
  EXPECT_EQ(harness.sink(1).messages.size(), kRounds + 1);
  EXPECT_EQ(unwoken, 0u);
}

TYPED_TEST_P(NetConformance, the_descriptor_is_silent_when_nothing_is_there) {
  TypeParam harness(2);
  for (std::uint64_t i = 0; i < 20; ++i) {
    this->exchange(harness, 0, 1, i, 100);
    this->exchange(harness, 1, 0, i, 100);
  }
  // What the libraries say to each other may come for a while; a descriptor that is always readable stays.
  EXPECT_TRUE(this->progress_until(harness, 2, [&] {
    if (!harness.component(1).begin_sleep()) return false;
    pollfd descriptor{harness.component(1).wait_fd(), POLLIN, 0};
    const bool silent = ::poll(&descriptor, 1, 20) == 0;
    harness.component(1).end_sleep();
    return silent;
  }));
}

TYPED_TEST_P(NetConformance, drained_is_true_only_when_all_has_left) {
  TypeParam harness(2);
  this->exchange(harness, 0, 1, 0, 8);
  constexpr std::uint64_t kMessages = 200;
  std::uint64_t sent = 0;
  while (sent < kMessages && harness.endpoint(0, 1).send({}, make_message(sent, 60'000)) == Post::done)
    ++sent;
  EXPECT_FALSE(harness.component(0).drained());
  ASSERT_TRUE(this->progress_until(harness, 2, [&] { return harness.component(0).drained(); }));
  harness.end(0);
  ASSERT_TRUE(this->progress_until(harness, 2, [&] { return harness.sink(1).messages.size() == sent + 1; }));
}

TYPED_TEST_P(NetConformance, a_process_that_ends_is_reported_lost_once) {
  TypeParam harness(2);
  this->exchange(harness, 0, 1, 1, 64);
  this->exchange(harness, 1, 0, 2, 64);
  auto& to_peer = harness.endpoint(0, 1);
  this->expect_end(harness, to_peer, Errc::unreachable);  // nobody says that it has ended
  for (int i = 0; i < 1000; ++i) harness.component(0).progress();
  ASSERT_EQ(harness.sink(0).lost.size(), 1u);
  EXPECT_EQ(harness.sink(0).lost[0], (ProcId{0, 1}));
  EXPECT_EQ(to_peer.send({}, make_message(4, 30'000)), Post::again);
  EXPECT_TRUE(harness.component(0).drained()) << "a lost peer owes nothing";
}

TYPED_TEST_P(NetConformance, who_only_waits_finds_that_a_connection_is_gone) {
  TypeParam harness(2);
  this->exchange(harness, 0, 1, 1, 64);
  this->exchange(harness, 1, 0, 2, 64);
  harness.end(1);
  ASSERT_TRUE(this->lost_to_one_who_waits(harness));
  EXPECT_EQ(harness.sink(0).lost[0], (ProcId{0, 1}));
  EXPECT_EQ(harness.sink(0).why_lost[0], Errc::unreachable) << harness.sink(0).reasons[0];
}

TYPED_TEST_P(NetConformance, a_death_that_the_launcher_tells_is_no_broken_connection) {
  for (const bool met : {true, false}) {
    TypeParam harness(3);
    if (met) {
      this->exchange(harness, 0, 1, 1, 64);
      this->exchange(harness, 1, 0, 2, 64);
    }
    harness.segment().tell_far_death(1);  // of a process that only receives, so no send would find out
    harness.end(1);
    EXPECT_TRUE(this->lost_to_one_who_waits(harness));
    for (int i = 0; i < 1000; ++i) harness.component(0).progress();
    ASSERT_EQ(harness.sink(0).lost.size(), 1u);
    EXPECT_EQ(harness.sink(0).lost[0], (ProcId{0, 1}));
    EXPECT_EQ(harness.sink(0).why_lost[0], Errc::peer_lost) << harness.sink(0).reasons[0];
  }
}

TYPED_TEST_P(NetConformance, the_node_is_told_of_peers_of_others_on_this_machine) {
  TypeParam harness(2);
  EXPECT_FALSE(harness.segment().yield_pause().nodes_here.load());
  harness.endpoint(0, 1);
  EXPECT_TRUE(harness.segment().yield_pause().nodes_here.load());
}

TYPED_TEST_P(NetConformance, who_only_polls_hears_of_a_death_too) {
  TypeParam harness(3);
  harness.segment().tell_far_death(2);
  const Deadline deadline = Deadline::after_seconds(60);
  while (harness.sink(0).lost.empty() && !deadline.passed()) harness.component(0).progress();
  ASSERT_EQ(harness.sink(0).lost.size(), 1u);
  EXPECT_EQ(harness.sink(0).lost[0], (ProcId{0, 2}));
}

TYPED_TEST_P(NetConformance, a_process_that_has_left_in_order_is_reported_left) {
  for (const bool answered : {true, false}) {
    TypeParam harness(2);
    this->exchange(harness, 0, 1, 1, 64);
    auto& to_peer = harness.endpoint(0, 1);
    if (answered) {
      this->exchange(harness, 1, 0, 2, 64);
    } else {
      (void)harness.endpoint(1, 0);  // what the pml does for those who were never answered
    }
    this->leave(harness, 1);
    EXPECT_TRUE(harness.sink(0).lost.empty());
    this->expect_end(harness, to_peer, Errc::peer_left);
  }
}

TYPED_TEST_P(NetConformance, who_is_back_can_be_lost) {
  TypeParam harness(2);
  this->exchange(harness, 0, 1, 1, 64);
  this->exchange(harness, 1, 0, 2, 64);
  auto& to_peer = harness.endpoint(0, 1);
  this->leave(harness, 1);
  harness.component(1).set_idle(false);
  ASSERT_TRUE(this->progress_until(harness, 2, [&] { return harness.component(1).drained(); }));
  this->exchange(harness, 0, 1, 3, 64);
  this->expect_end(harness, to_peer, Errc::unreachable);  // nobody says that it has ended
}

TYPED_TEST_P(NetConformance, an_address_where_nobody_listens_is_an_error_or_a_loss) {
  TypeParam harness(2);
  const auto address = harness.component(1).address();
  harness.end(1);
  auto made = harness.component(0).connect(ProcId{0, 1}, address);
  if (!made) {
    EXPECT_NE(made.error().text().find("rank 1"), std::string::npos) << made.error().text();
    return;
  }
  (void)(*made)->send({}, make_message(0, 100));
  EXPECT_TRUE(this->progress_until(harness, 2, [&] { return !harness.sink(0).lost.empty(); }));
  ASSERT_EQ(harness.sink(0).reasons.size(), 1u);
  EXPECT_NE(harness.sink(0).reasons[0].find("refused"), std::string::npos) << harness.sink(0).reasons[0];
}

TYPED_TEST_P(NetConformance, garbage_as_an_address_is_an_error) {
  TypeParam harness(2);
  const auto good = harness.component(1).address();
  EXPECT_FALSE(harness.component(0).connect(ProcId{0, 1}, {}));
  EXPECT_FALSE(harness.component(0).connect(ProcId{0, 1}, make_message(7, good.size())));
  for (std::size_t bytes = 1; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(harness.component(0).connect(ProcId{0, 1}, bytes_of(good, 0, bytes))) << bytes;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto damaged = good;
    damaged[at] ^= std::byte{0x41};
    EXPECT_FALSE(harness.component(0).connect(ProcId{0, 1}, damaged)) << "byte " << at;
  }
  EXPECT_TRUE(harness.component(0).drained());
  this->exchange(harness, 0, 1, 5, 500);
}

TYPED_TEST_P(NetConformance, an_interface_that_does_not_exist_is_named_with_those_that_do) {
  TypeParam harness(2, {std::string("STARLING_MCA_") + TypeParam::Of::kInterfaceParam + "=nowhere7"}, false);
  const auto refused = harness.create(0);
  ASSERT_FALSE(refused);
  const std::string text = refused.error().text();
  EXPECT_EQ(refused.error().code, Errc::bad_parameter) << text;
  for (const char* part : {TypeParam::Of::kInterfaceParam, "nowhere7", "environment", "lo (127.0.0.1)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
  }
}

TYPED_TEST_P(NetConformance, loopback_can_be_chosen) {
  TypeParam harness(2, {std::string("STARLING_MCA_") + TypeParam::Of::kInterfaceParam + "=lo"});
  this->exchange(harness, 0, 1, 5, 500);
}

TYPED_TEST_P(NetConformance, children_inherit_no_descriptor_and_signals_stay_the_programs) {
  const auto before = inheritable();
  const auto handlers_before = handlers();
  TypeParam harness(2);
  this->exchange(harness, 0, 1, 1, 64);
  this->exchange(harness, 1, 0, 2, 64);
  for (int i = 0; i < 100; ++i) {
    harness.component(0).progress();
    harness.component(1).progress();
  }
  EXPECT_EQ(inheritable(), before);
  EXPECT_EQ(handlers(), handlers_before);
}

TYPED_TEST_P(NetConformance, many_peers_are_told_apart) {
  constexpr unsigned kProcesses = 9;
  TypeParam harness(kProcesses);
  for (unsigned from = 1; from < kProcesses; ++from) {
    for (std::uint64_t i = 0; i < 5; ++i) {
      ASSERT_EQ(harness.endpoint(from, 0).send({}, make_message(from * 100 + i, 40 * from)), Post::done);
    }
  }
  ASSERT_TRUE(this->progress_until(harness, kProcesses,
                                   [&] { return harness.sink(0).messages.size() == 5 * (kProcesses - 1); }));
  std::vector<std::uint64_t> next(kProcesses, 0);
  for (const auto& message : harness.sink(0).messages) {
    const unsigned from = message.from.rank;
    ASSERT_EQ(message.bytes, make_message(from * 100 + next[from]++, 40 * from));
  }
}

TYPED_TEST_P(NetConformance, kept_bytes_outlive_their_sender_and_the_transport) {
  TypeParam harness(2, {TypeParam::Of::kKeeps});
  harness.sink(1).keep = true;
  for (std::uint64_t i = 0; i < 4; ++i)
    ASSERT_EQ(harness.endpoint(0, 1).send({}, make_message(i, 20'000)), Post::done);
  ASSERT_TRUE(this->progress_until(harness, 2, [&] { return harness.sink(1).messages.size() == 4; }));
  ASSERT_EQ(harness.sink(1).kept_ever, 4u);
  btl::Endpoint& back = harness.endpoint(1, 0);
  harness.end(0);
  ASSERT_TRUE(this->progress_until(harness, 2, [&] {
    (void)back.send({}, make_message(9, 100));  // who sends nothing may hear of nothing
    return !harness.sink(1).lost.empty();
  }));
  harness.sink(1).release_one();
  EXPECT_EQ(harness.sink(1).kept_damaged(), "");
  harness.end(1);
  EXPECT_EQ(harness.sink(1).kept_damaged(), "");
  harness.sink(1).release_all();
}

/// Whoever keeps everything still receives everything.
TYPED_TEST_P(NetConformance, what_is_kept_does_not_starve_the_transport) {
  TypeParam harness(2, {TypeParam::Of::kKeeps});
  harness.sink(1).keep = true;
  constexpr std::size_t kMessages = 600, kBytes = 60'000;
  std::size_t sent = 0;
  ASSERT_TRUE(this->progress_until(harness, 2, [&] {
    if (sent < kMessages && harness.endpoint(0, 1).send({}, make_message(sent, kBytes)) == Post::done) ++sent;
    return harness.sink(1).messages.size() == kMessages;
  }));
  for (std::uint64_t i = 0; i < kMessages; ++i)
    ASSERT_EQ(harness.sink(1).messages[i].bytes, make_message(i, kBytes));
  const std::size_t kept = harness.sink(1).kept_ever;
  EXPECT_GE(kept, 50u);
  EXPECT_LE(kept * kBytes, 12u << 20) << "of the transport's memory";
  EXPECT_EQ(harness.sink(1).kept_damaged(), "");
  harness.sink(1).release_all();
  ASSERT_EQ(harness.endpoint(0, 1).send({}, make_message(1, kBytes)), Post::done);
  ASSERT_TRUE(
      this->progress_until(harness, 2, [&] { return harness.sink(1).messages.size() == kMessages + 1; }));
  EXPECT_EQ(harness.sink(1).kept_ever, kept + 1) << "there is room again";
  harness.sink(1).release_all();
}

REGISTER_TYPED_TEST_SUITE_P(
    NetConformance, declares_what_it_needs, what_is_sent_before_the_peer_looks_arrives_when_it_looks,
    first_messages_that_cross_lose_nothing, a_sleeper_is_woken_by_its_descriptor,
    two_sleepers_wake_each_other, the_descriptor_is_silent_when_nothing_is_there,
    drained_is_true_only_when_all_has_left, a_process_that_ends_is_reported_lost_once,
    who_only_waits_finds_that_a_connection_is_gone, a_death_that_the_launcher_tells_is_no_broken_connection,
    the_node_is_told_of_peers_of_others_on_this_machine, who_only_polls_hears_of_a_death_too,
    a_process_that_has_left_in_order_is_reported_left, who_is_back_can_be_lost,
    an_address_where_nobody_listens_is_an_error_or_a_loss, garbage_as_an_address_is_an_error,
    an_interface_that_does_not_exist_is_named_with_those_that_do, loopback_can_be_chosen,
    children_inherit_no_descriptor_and_signals_stay_the_programs, many_peers_are_told_apart,
    kept_bytes_outlive_their_sender_and_the_transport, what_is_kept_does_not_starve_the_transport);

}  // namespace starling::test
