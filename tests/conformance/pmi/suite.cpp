// SPDX-License-Identifier: BSD-3-Clause
// Every pmi: one process of a job runs these tests, and all processes of the job run them in step. Hard: a
// test that fails in one process must not leave the others waiting for ever, so that each wait has an end.

#include <poll.h>

#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "frameworks/pmi/pmi.hpp"
#include "tests/conformance/patience.hpp"
#include "tests/conformance/plugin.hpp"

namespace starling::conformance {
namespace {

/// The component of this process, which joins its job once.
struct Member {
  params::Registry params = test_parameters();
  Result<Plugin::Handle<pmi::Framework>> made = plugin_under_test().create<pmi::Framework>(pmi::Args{params});
};

class Pmi : public testing::Test {
 protected:
  static void SetUpTestSuite() { member_ = new Member; }
  /// As a process that ends after MPI_Finalize: the others may still be on their way out of a fence.
  static void TearDownTestSuite() {
    if (member_->made) {
      (*member_->made)->set_active(false);
      (*member_->made)->process_ends();
    }
    delete member_;
    member_ = nullptr;
  }
  void SetUp() override {
    ASSERT_TRUE(member_->made) << "the factory cannot make a component here: "
                               << member_->made.error().text();
  }
  pmi::Component& pmi() { return **member_->made; }
  const pmi::Identity& me() { return pmi().identity(); }
  /// The last process comes late, so that a fence that does not wait for it is seen.
  void last_is_late() {
    if (me().size > 1 && me().rank == me().size - 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  /// Of any content, and different for each process and key.
  std::vector<std::byte> value(std::uint32_t rank, const std::string& key, std::size_t bytes) {
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      made[i] = static_cast<std::byte>((rank * 37 + key.size() * 11 + i * 7 + (i >> 8)) & 0xff);
    return made;
  }
  void put(const std::string& key, std::size_t bytes) {
    const auto done = pmi().put(key, value(me().rank, key, bytes));
    ASSERT_TRUE(done) << "put() of " << bytes << " bytes: " << done.error().text();
  }
  /// Asks again while the answer is on its way.
  Result<pmi::Lookup> get(std::uint32_t rank, const std::string& key) {
    for (const Deadline deadline = patience();;) {
      auto got = pmi().get(rank, key);
      if (!got || got->found != pmi::Found::not_yet || deadline.passed()) return got;
      if (!pmi().capabilities().get_without_fence) return got;
      pollfd descriptor{pmi().wait_fd(), POLLIN, 0};
      ::poll(&descriptor, 1, 5);
    }
  }
  testing::AssertionResult visible(const Result<pmi::Lookup>& got, std::uint32_t rank, const char* when) {
    if (!got) return testing::AssertionFailure() << "get(): " << got.error().text();
    if (got->found == pmi::Found::value) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "rank " << me().rank << " does not see " << when << " what rank " << rank
           << " put before it: a fence waits for all its members, and what they put before it is visible "
              "after it";
  }
  void expect_value(std::uint32_t rank, const std::string& key, std::size_t bytes, const char* when) {
    const auto got = get(rank, key);
    ASSERT_TRUE(visible(got, rank, when));
    EXPECT_TRUE(got->value == value(rank, key, bytes))
        << "the value of rank " << rank << " under key " << key << " has other bytes than were put ("
        << got->value.size() << " bytes, put were " << bytes << ")";
  }
  void expect_values_of_all(const std::string& key, std::size_t bytes) {
    for (std::uint32_t rank = 0; rank < me().size; ++rank) expect_value(rank, key, bytes, "after the fence");
  }

 private:
  static inline Member* member_ = nullptr;
};

TEST_F(Pmi, says_who_this_process_is) {
  EXPECT_FALSE(me().job.empty()) << "Identity::job names the job";
  EXPECT_EQ(me().job.find_first_of("/ "), std::string::npos)
      << "Identity::job is '" << me().job << "', expected no '/' and no space";
  ASSERT_GE(me().size, 1u);
  EXPECT_LT(me().rank, me().size) << "ranks are counted from 0";
  EXPECT_FALSE(pmi().capabilities().server.empty()) << "Capabilities::server tells people who answers";
}

TEST_F(Pmi, every_process_is_another_rank) {
  const std::string own = std::to_string(me().rank);
  const auto done = pmi().put("rank", std::as_bytes(std::span(own.data(), own.size())));
  ASSERT_TRUE(done) << done.error().text() << " (if it says that the key was put already: have two processes "
                    << "the rank " << own << "?)";
  const auto fenced = pmi().fence(patience());
  ASSERT_TRUE(fenced) << "a fence of all: " << fenced.error().text();
  for (std::uint32_t rank = 0; rank < me().size; ++rank) {
    const auto got = get(rank, "rank");
    ASSERT_TRUE(visible(got, rank, "after the fence"));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(got->value.data()), got->value.size()),
              std::to_string(rank))
        << "get(" << rank << ") gives the value of another process, or Identity::rank of that one is wrong";
  }
}

TEST_F(Pmi, a_fence_waits_for_the_last_and_shows_what_was_put) {
  for (int round = 0; round < 3; ++round) {
    const std::string key = "round-" + std::to_string(round);
    last_is_late();
    put(key, 40);
    const auto fenced = pmi().fence(patience());
    ASSERT_TRUE(fenced) << fenced.error().text();
    expect_values_of_all(key, 40);
  }
}

TEST_F(Pmi, a_fence_that_is_entered_and_polled_waits_too) {
  last_is_late();
  put("polled", 24);
  const auto entered = pmi().fence_enter({}, {}, patience());
  ASSERT_TRUE(entered) << entered.error().text();
  for (const Deadline deadline = patience(); entered->number != pmi::Fence::kLeft;) {
    const auto left = pmi().fence_left(*entered);
    ASSERT_TRUE(left) << left.error().text();
    if (*left) break;
    ASSERT_FALSE(deadline.passed()) << "fence_left() never says that all have entered";
    pollfd descriptor{pmi().wait_fd(), POLLIN, 0};
    ::poll(&descriptor, 1, 5);
  }
  expect_values_of_all("polled", 24);
}

TEST_F(Pmi, values_are_bytes_of_any_content_and_length) {
  const std::size_t lengths[] = {0, 1, 255, 4096, 20'000, pmi::kMaxValueBytes};
  for (const std::size_t bytes : lengths) put("length-" + std::to_string(bytes), bytes);
  const auto fenced = pmi().fence(patience());
  ASSERT_TRUE(fenced) << fenced.error().text();
  for (const std::size_t bytes : lengths) expect_values_of_all("length-" + std::to_string(bytes), bytes);
}

TEST_F(Pmi, what_nobody_put_is_not_found) {
  const auto fenced = pmi().fence(patience());
  ASSERT_TRUE(fenced) << fenced.error().text();
  const auto got = pmi().get(0, "nobody-put-this");
  ASSERT_TRUE(got) << "a key that nobody put is an answer, not an error: " << got.error().text();
  EXPECT_NE(got->found, pmi::Found::value);
  if (!pmi().capabilities().get_without_fence) {
    EXPECT_EQ(got->found, pmi::Found::none) << "not_yet is only for those with get_without_fence";
  }
}

TEST_F(Pmi, groups_meet_without_the_others) {
  std::vector<std::uint32_t> group;
  for (std::uint32_t rank = me().rank % 2; rank < me().size; rank += 2) group.push_back(rank);
  if (!pmi().capabilities().group_fence) {
    if (group.size() == 1 || group.size() == me().size) GTEST_SKIP() << "it has no fences of groups";
    const auto refused = pmi().fence(group, "parity", patience());
    ASSERT_FALSE(refused) << "Capabilities::group_fence is not set, but a fence of a group succeeds";
    EXPECT_EQ(refused.error().code, Errc::unsupported) << refused.error().text();
    return;
  }
  for (int round = 0; round < 3; ++round) {
    const std::string key = "group-" + std::to_string(round);
    if (me().rank == group.back() && group.size() > 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
    put(key, 16);
    const auto fenced = pmi().fence(group, "parity", patience());
    ASSERT_TRUE(fenced) << "Capabilities::group_fence is set, but: " << fenced.error().text();
    for (const std::uint32_t rank : group) expect_value(rank, key, 16, "after its group's fence");
  }
}

TEST_F(Pmi, names_are_found_until_they_are_taken_back) {
  const std::string name = "conformance-" + me().job;
  if (!pmi().capabilities().name_service) {
    const auto refused = pmi().publish(name, "here");
    ASSERT_FALSE(refused) << "Capabilities::name_service is not set, but publish() succeeds";
    EXPECT_EQ(refused.error().code, Errc::unsupported) << refused.error().text();
    return;
  }
  if (me().rank == 0) {
    const auto published = pmi().publish(name, "a port%2 of\trank 0");
    ASSERT_TRUE(published) << published.error().text();
  }
  ASSERT_TRUE(pmi().fence(patience()));
  const auto found = pmi().lookup(name);
  ASSERT_TRUE(found) << "a published name is not found: " << found.error().text();
  EXPECT_EQ(*found, "a port%2 of\trank 0");
  ASSERT_TRUE(pmi().fence(patience()));
  if (me().rank == 0) {
    const auto unpublished = pmi().unpublish(name);
    ASSERT_TRUE(unpublished) << unpublished.error().text();
  }
  ASSERT_TRUE(pmi().fence(patience()));
  const auto gone = pmi().lookup(name);
  ASSERT_FALSE(gone) << "a name that was taken back is still found";
  EXPECT_EQ(gone.error().code, Errc::not_found) << gone.error().text();
}

TEST_F(Pmi, counts_what_it_is_asked) {
  const auto before = pmi().counters();
  put("counted", 8);
  ASSERT_TRUE(pmi().fence(patience()));
  ASSERT_TRUE(pmi().get(0, "counted"));
  const auto after = pmi().counters();
  EXPECT_GT(after.puts, before.puts) << "Counters::puts, for the startup report";
  EXPECT_GT(after.gets, before.gets) << "Counters::gets, for the startup report";
  EXPECT_GT(after.fences, before.fences) << "Counters::fences, for the startup report";
}

TEST_F(Pmi, stays_connected_and_says_that_all_is_well) {
  last_is_late();  // it takes its leave while the others, who are back, wait for it
  pmi().set_active(false);
  pmi().set_active(true);
  EXPECT_TRUE(pmi().check()) << "check() fails though the process manager lives";
  const auto fenced = pmi().fence(patience());
  ASSERT_TRUE(fenced) << fenced.error().text()
                      << "; it must serve after set_active(false) and (true), any number of times";
}

}  // namespace
}  // namespace starling::conformance
