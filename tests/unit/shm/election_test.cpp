// SPDX-License-Identifier: BSD-3-Clause
// Electing who makes a segment, and handing it over: by real processes, with deaths and another user.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "frameworks/shm/attach.hpp"
#include "frameworks/shm/election.hpp"
#include "frameworks/shm/params.hpp"
#include "tests/unit/shm/processes.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling {
namespace {

using test::Process;
using test::Signal;

class Election : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(shm::register_params(params)); }

  shm::SegmentSpec spec(std::uint32_t size = 4) const {
    return {.job = "election-test-" + std::to_string(test_pid_),
            .node = 0,
            .local_rank = 0,
            .local_size = size,
            .bytes = shm::geometry_from(params, size).total_bytes()};
  }
  static Deadline soon() { return Deadline::after_seconds(60); }
  bool name_exists() const {
    const UniqueFd table(::open("/proc/net/unix", O_RDONLY));
    std::string text;
    char part[4096];
    for (ssize_t got = 0; (got = ::read(table.get(), part, sizeof part)) > 0;)
      text.append(part, static_cast<std::size_t>(got));
    return text.find(shm::election_name(spec()) + "\n") != std::string::npos;
  }
  /// Takes the election, makes a segment whose byte at 200000 is `mark`, gives it, and lives on.
  int make_and_give(char mark, const Signal& given) const {
    auto election = shm::elect(spec(), soon());
    if (!election || !*election || (*election)->memory) return 1;
    auto segment = shm::private_segment(params, spec());
    if (!segment) return 2;
    segment->mapping.data()[200000] = static_cast<std::byte>(mark);
    auto segment_server =
        shm::SegmentServer::start(segment->fd.get(), std::move((*election)->listener), spec(), "a reason");
    if (!segment_server) return 3;
    given.give();
    for (;;) ::pause();
  }
  /// Gets a segment from somebody and returns its mark; 0: it was not handed over.
  int receive(shm::Election* kept = nullptr) const {
    auto election = shm::elect(spec(), soon());
    if (!election || !*election || !(*election)->memory) return 0;
    auto segment = shm::handed_segment(std::move((*election)->memory), spec(), soon());
    if (!segment) return 0;
    const int mark = std::to_integer<int>(segment->mapping.data()[200000]);
    if (kept != nullptr) *kept = {std::move((*election)->listener), std::move(segment->fd), (*election)->why};
    return mark;
  }
  int receive_and_give(const Signal& given) const {
    shm::Election kept;
    if (receive(&kept) == 0) return 1;
    auto segment_server = shm::SegmentServer::start(kept.memory.get(), std::move(kept.listener), spec());
    if (!segment_server) return 2;
    given.give();
    for (;;) ::pause();
  }

  params::Registry params;

 private:
  const pid_t test_pid_ = ::getpid();  // also in forked processes
};

TEST_F(Election, the_first_has_it_and_the_name_goes_with_it) {
  auto election = shm::elect(spec(), soon());
  ASSERT_TRUE(election && *election) << election.error().text();
  EXPECT_FALSE((*election)->memory);
  EXPECT_TRUE(name_exists());
  election = std::optional<shm::Election>{};
  EXPECT_FALSE(name_exists());
}

TEST_F(Election, who_waits_learns_that_it_ended_without_a_segment) {
  Signal have_it;
  Process first([&] {
    auto election = shm::elect(spec(), soon());
    have_it.give();
    ::usleep(50'000);
    return election && *election ? 0 : 1;
  });
  have_it.take();
  auto election = shm::elect(spec(), soon());
  ASSERT_TRUE(election) << election.error().text();
  EXPECT_FALSE(election->has_value());
  EXPECT_EQ(first.wait(), 0);
}

TEST_F(Election, many_processes_get_one_segment) {
  constexpr int kProcesses = 12;
  std::vector<Process> all;
  Signal given;
  all.emplace_back([&] { return make_and_give('m', given); });
  given.take();
  std::vector<Process> others;
  for (int i = 0; i < kProcesses; ++i) others.emplace_back([&] { return receive() == 'm' ? 0 : 1; });
  for (Process& other : others) EXPECT_EQ(other.wait(), 0);
}

TEST_F(Election, another_holder_gives_after_the_maker_was_killed) {
  Signal given;
  Process maker([&] { return make_and_give('a', given); });
  given.take();
  Process holder([&] { return receive_and_give(given); });
  given.take();
  maker.kill();
  EXPECT_EQ(receive(), 'a') << "the segment of the killed maker";
  holder.kill();
  EXPECT_FALSE(name_exists());
  Process next([&] { return make_and_give('b', given); });
  given.take();
  EXPECT_EQ(receive(), 'b') << "nobody had the first segment any more";
}

TEST_F(Election, a_holder_that_is_stopped_holds_nobody_up_if_another_gives) {
  Signal given;
  Process maker([&] { return make_and_give('s', given); });
  given.take();
  Process holder([&] { return receive_and_give(given); });
  given.take();
  ASSERT_EQ(::kill(maker.pid(), SIGSTOP), 0);
  EXPECT_EQ(receive(), 's');
}

TEST_F(Election, a_holder_that_never_answers_is_waited_for_until_the_deadline) {
  Signal have_it;
  Process first([&] {
    auto election = shm::elect(spec(), soon());
    have_it.give();
    for (;;) ::pause();
    return 0;
  });
  have_it.take();
  const auto election = shm::elect(spec(), Deadline::after_ns(200'000'000));
  ASSERT_FALSE(election);
  EXPECT_EQ(election.error().code, Errc::timed_out);
  EXPECT_NE(election.error().text().find(shm::election_name(spec())), std::string::npos);
}

TEST_F(Election, the_end_of_giving_takes_the_name_away_in_all_processes) {
  Signal given;
  Process maker([&] { return make_and_give('e', given); });
  given.take();
  shm::Election kept;
  ASSERT_EQ(receive(&kept), 'e');
  EXPECT_EQ(kept.why, "a reason");
  auto segment_server = shm::SegmentServer::start(kept.memory.get(), std::move(kept.listener), spec());
  ASSERT_TRUE(segment_server) << segment_server.error().text();
  (*segment_server)->end();
  for (int i = 0; i < 2000 && name_exists(); ++i) ::usleep(1000);
  EXPECT_FALSE(name_exists()) << "the maker still lives, but gives no more";
}

TEST_F(Election, a_name_that_somebody_elses_process_holds_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Signal listening;
  const std::string name = shm::election_name(spec());
  Process hijacker([&] { return test::listen_as_another_user(name, listening); });
  listening.take();
  const auto election = shm::elect(spec(), soon());
  ASSERT_FALSE(election);
  EXPECT_EQ(election.error().code, Errc::denied);
  EXPECT_NE(election.error().text().find("user 12345"), std::string::npos) << election.error().text();
}

TEST_F(Election, nothing_is_given_to_another_user) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Signal given;
  Process maker([&] { return make_and_give('x', given); });
  given.take();
  const test::AbstractName name(shm::election_name(spec()));
  Process thief([&] {
    if (::setresuid(test::kAnotherUser, test::kAnotherUser, test::kAnotherUser) != 0) return 1;
    const UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
    if (::connect(socket.get(), name.get(), name.length) != 0) return 2;
    char byte = 0;
    return ::recv(socket.get(), &byte, 1, 0) == 0 ? 0 : 3;  // closed without a word
  });
  EXPECT_EQ(thief.wait(), 0);
  EXPECT_EQ(receive(), 'x') << "the segment server goes on";
}

TEST_F(Election, what_is_no_segment_of_this_job_is_refused) {
  const UniqueFd plain(::memfd_create("starling-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(plain.get(), static_cast<off_t>(spec().bytes)), 0);
  auto unsealed = shm::handed_segment(UniqueFd(::dup(plain.get())), spec(), soon());
  ASSERT_FALSE(unsealed);
  EXPECT_EQ(unsealed.error().code, Errc::denied);
  auto other = shm::create_memfd("starling-test", shm::geometry_from(params, 4), shm::job_nonce("other"));
  ASSERT_TRUE(other);
  auto foreign = shm::handed_segment(std::move(*other), spec(), soon());
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().text().find("another job"), std::string::npos);
}

}  // namespace
}  // namespace starling
