// SPDX-License-Identifier: BSD-3-Clause
// What registers and leaves during a pass. Layer: tests.

#include "mpi/runtime/polling.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "mpi/runtime/place.hpp"
#include "mpi/runtime/progress_thread.hpp"
#include "tests/unit/mpi/runtime/fake_pmi.hpp"

namespace starling::mpi {
namespace {

class Step final : public Progressable {
 public:
  Step(std::string& log, char name) : log_(log), name_(name) {}
  std::function<void()> act = [] {};
  int events = 0;
  bool of_program = false;
  int progress() noexcept override {
    log_ += name_;
    act();
    return events;
  }
  bool calls_program() const noexcept override { return of_program; }

 private:
  std::string& log_;
  char name_;
};

struct Passes : ::testing::Test {
  Environment environment;
  test::FakePmi pmi;
  BigLock lock;
  ProgressThread thread{lock};
  Place place{environment, pmi};
  Polling polling{place, thread};
  std::string log;
  Step a{log, 'a'}, b{log, 'b'}, c{log, 'c'};
  void SetUp() override {
    for (Step* step : {&a, &b, &c}) polling.add(*step);
  }
};

TEST_F(Passes, reach_each_once_and_add_up) {
  a.events = 2;
  c.events = 3;
  EXPECT_EQ(polling.progress(), 5);
  EXPECT_EQ(log, "cba");
}

TEST_F(Passes, know_each_once) {
  polling.add(b);
  (void)polling.progress();
  EXPECT_EQ(log, "cba");
}

TEST_F(Passes, go_on_after_one_that_leaves_by_itself) {
  b.act = [this] { polling.remove(b); };
  (void)polling.progress();
  (void)polling.progress();
  EXPECT_EQ(log, "cbaca");
}

TEST_F(Passes, leave_out_the_next_one_that_was_taken_away) {
  c.act = [this] { polling.remove(b); };
  (void)polling.progress();
  EXPECT_EQ(log, "ca");
}

TEST_F(Passes, go_on_after_all_have_left) {
  c.act = [this] {
    for (Step* step : {&a, &b, &c}) polling.remove(*step);
  };
  (void)polling.progress();
  (void)polling.progress();
  EXPECT_EQ(log, "c");
}

TEST_F(Passes, take_back_who_left) {
  polling.remove(a);
  polling.remove(a);
  polling.add(a);
  (void)polling.progress();
  EXPECT_EQ(log, "acb");
}

TEST_F(Passes, aside_do_not_call_the_program) {
  b.of_program = true;
  b.events = 1;
  EXPECT_EQ(polling.progress_aside(), 0);
  EXPECT_EQ(log, "ca");
  EXPECT_EQ(polling.progress(), 1);
  EXPECT_EQ(log, "cacba");
}

TEST_F(Passes, tell_who_is_registered) {
  polling.remove(b);
  std::vector<Progressable*> all;
  polling.each([&](Progressable& item) { all.push_back(&item); });
  EXPECT_EQ(all, (std::vector<Progressable*>{&c, &a}));
}

}  // namespace
}  // namespace starling::mpi
