// SPDX-License-Identifier: BSD-3-Clause
// Fences that end, that are given up, and that come too late. Layer: tests.

#include "mpi/runtime/fences.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/mpi/runtime/fake_pmi.hpp"

namespace starling::mpi {
namespace {

using Log = std::vector<std::string>;

/// Asks once whether what is waited for is there; if not, the time is over.
class OneLook final : public FenceWaiter {
 public:
  int under_way = 0;
  std::string hint;
  void enter_fence(bool) override { ++under_way; }
  void leave_fence() noexcept override { --under_way; }
  Result<void> wait(const std::function<bool()>& ready, Deadline,
                    const std::function<std::string()>&) override {
    EXPECT_EQ(under_way, 1);
    if (ready()) return {};
    return fail(Errc::timed_out, "wait", hint);
  }
};

struct Meeting : ::testing::Test {
  test::FakePmi pmi{3};
  OneLook waiter;
  Fences fences{pmi, waiter};
};

const auto kNeedless = [] { return true; };
constexpr std::array<std::uint32_t, 2> kTwo{0, 2};

TEST_F(Meeting, ends_when_all_have_come) {
  pmi.everybody_came = true;
  EXPECT_TRUE(fences.meet({}, {}, {}, {}));
  EXPECT_EQ(pmi.log, (Log{"enter world", "left 0"}));
  EXPECT_EQ(waiter.under_way, 0);
}

TEST_F(Meeting, that_nobody_ends_is_abandoned_and_says_whom_it_missed) {
  waiter.hint = "1 of 3 has not come";
  const auto met = fences.meet({}, {}, {}, {});
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, Errc::timed_out);
  EXPECT_NE(met.error().detail.find("not all of 3 processes"), std::string::npos);
  EXPECT_NE(met.error().detail.find(waiter.hint), std::string::npos);
  EXPECT_EQ(pmi.log, (Log{"enter world", "abandon 0"}));
  EXPECT_EQ(waiter.under_way, 0);
}

TEST_F(Meeting, of_the_world_that_was_given_up_is_gone_on_with) {
  EXPECT_TRUE(fences.meet({}, {}, {}, kNeedless));
  EXPECT_EQ(pmi.log, (Log{"enter world"}));
  pmi.everybody_came = true;
  EXPECT_TRUE(fences.meet({}, {}, {}, {}));
  EXPECT_EQ(pmi.log, (Log{"enter world", "left 0"}));
  EXPECT_TRUE(fences.meet({}, {}, {}, {}));
  EXPECT_EQ(pmi.log, (Log{"enter world", "left 0", "enter world", "left 1"}));
}

TEST_F(Meeting, of_a_group_that_was_given_up_is_abandoned) {
  EXPECT_TRUE(fences.meet(kTwo, "pair", {}, kNeedless));
  EXPECT_EQ(pmi.log, (Log{"enter pair", "abandon 0"}));
}

TEST_F(Meeting, that_cannot_be_entered_says_why) {
  pmi.refuses = Error{Errc::unsupported, "pmi", "no fences"};
  const auto met = fences.meet(kTwo, "pair", {}, {});
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, Errc::unsupported);
}

TEST_F(Meeting, at_the_end_comes_after_one_that_was_given_up) {
  EXPECT_TRUE(fences.meet({}, {}, {}, kNeedless));
  EXPECT_TRUE(fences.meet_last(kNeedless));
  EXPECT_EQ(pmi.log, (Log{"enter world", "abandon 0", "enter world", "abandon 1"}));
}

}  // namespace
}  // namespace starling::mpi
