// SPDX-License-Identifier: BSD-3-Clause
// shm/memfd: a segment inherited from mpiexec, and what is refused.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "frameworks/shm/attach.hpp"
#include "frameworks/shm/choose.hpp"
#include "frameworks/shm/params.hpp"
#include "plugins/shm/memfd/component.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling {
namespace {

class Memfd : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(shm::register_params(params));
    ::setenv("STARLING_JOB", "job", 1);
  }
  void TearDown() override {
    ::unsetenv(shm::kInheritedFdVariable);
    ::unsetenv("STARLING_JOB");
  }

  shm::SegmentSpec spec(std::uint32_t rank, std::uint32_t size) {
    return {.job = "job",
            .node = 0,
            .local_rank = rank,
            .local_size = size,
            .bytes = shm::geometry_from(params, size).total_bytes()};
  }
  static void set_variable(const std::string& text) { ::setenv(shm::kInheritedFdVariable, text.c_str(), 1); }

  params::Registry params;
};

TEST_F(Memfd, an_inherited_segment_is_attached_by_all_and_stays_inheritable) {
  const auto geometry = shm::geometry_from(params, 2);
  UniqueFd memfd = std::move(shm::create_memfd("starling-test", geometry, 7)).value();
  set_variable(std::to_string(memfd.get()));
  auto component = shm::create_memfd_component({params});
  ASSERT_TRUE(component) << component.error().text();
  auto first = (*component)->attach(spec(0, 2), Deadline::after_seconds(60));
  auto second = (*component)->attach(spec(1, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->inherited);
  EXPECT_NE(first->fd.get(), memfd.get());
  auto a = shm::NodeSegment::open(std::move(*first), geometry, 0);
  auto b = shm::NodeSegment::open(std::move(*second), geometry, 1);
  ASSERT_TRUE(a && b);
  a->enter();
  EXPECT_EQ(b->slot(0).pid.load(), static_cast<std::uint32_t>(::getpid()));
  EXPECT_TRUE((*component)->attach(spec(0, 2), Deadline{})) << "a second program of the same rank";
}

TEST_F(Memfd, an_inherited_segment_is_taken_before_other_ways_are_opened) {
  const UniqueFd memfd =
      std::move(shm::create_memfd("starling-test", shm::geometry_from(params, 2), 7)).value();
  shm::MemfdComponent component(params, memfd.get());
  const shm::Candidate way{"memfd", &component};
  auto taken = shm::take_inherited(way, spec(0, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->segment.inherited);
  EXPECT_EQ(taken->how, "shm/memfd, inherited from mpiexec");
  shm::MemfdComponent without(params, -1);
  const shm::Candidate other{"memfd", &without};
  EXPECT_FALSE(shm::take_inherited(other, spec(0, 2), Deadline::after_seconds(60)));
}

TEST_F(Memfd, the_segment_of_another_job_is_left_alone) {
  const UniqueFd memfd =
      std::move(shm::create_memfd("starling-test", shm::geometry_from(params, 2), 7)).value();
  shm::MemfdComponent component(params, memfd.get());
  ::setenv("STARLING_JOB", "another", 1);
  const auto nothing = component.find(spec(0, 2), Deadline::after_seconds(60));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, Errc::not_found);
  const auto own = component.attach(spec(0, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(own);
  EXPECT_FALSE(own->inherited) << "it makes one of its own, which has to be handed over";
}

TEST_F(Memfd, makes_a_sealed_segment_without_mpiexec) {
  ::unsetenv(shm::kInheritedFdVariable);
  const auto component = shm::create_memfd_component({params});
  ASSERT_TRUE(component) << component.error().text();
  EXPECT_FALSE((*component)->find(spec(0, 2), Deadline::after_seconds(60)));
  const auto made = (*component)->attach(spec(0, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_TRUE(shm::size_is_sealed(made->fd.get()));
}

TEST_F(Memfd, a_variable_that_is_no_number_is_refused) {
  for (const char* text : {"", "x", "3x", "-1", "99999999999"}) {
    set_variable(text);
    const auto component = shm::create_memfd_component({params});
    ASSERT_FALSE(component) << text;
    EXPECT_EQ(component.error().code, Errc::bad_input);
  }
}

TEST_F(Memfd, a_descriptor_that_is_not_the_segment_is_refused) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd unsealed(::memfd_create("starling-test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(unsealed.get(), static_cast<off_t>(spec(0, 2).bytes)), 0);
  const UniqueFd other =
      std::move(shm::create_memfd("starling-test", shm::geometry_from(params, 3), 7)).value();
  for (const int fd : {ends[0], 9999, unsealed.get(), other.get()}) {
    shm::MemfdComponent component(params, fd);
    const auto refused = component.attach(spec(0, 2), Deadline::after_seconds(60));
    ASSERT_FALSE(refused) << fd;
    EXPECT_NE(refused.error().text().find(shm::kInheritedFdVariable), std::string::npos);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace starling
