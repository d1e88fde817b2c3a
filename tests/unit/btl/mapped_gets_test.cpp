// SPDX-License-Identifier: BSD-3-Clause
// Gets of btl/shm from memory that can be mapped: which way each takes, and that it brings the right bytes.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <vector>

#include "core/clock.hpp"
#include "frameworks/shm/memory/owned.hpp"
#include "frameworks/shm/memory/table.hpp"
#include "tests/unit/btl/shm_harness.hpp"

namespace starling::test {
namespace {

constexpr std::size_t kBytes = 100'000;

/// What is chosen where the map and the kernel cost this.
bool map_is_chosen(std::uint64_t map, std::uint64_t kernel) {
  btl::MapTrial trial;
  for (int i = 0; i < 100 && trial.trying(); ++i) trial.took(trial.maps() ? map : kernel);
  EXPECT_FALSE(trial.trying());
  EXPECT_EQ(trial.kernel_cost(), kernel);
  EXPECT_NEAR(static_cast<double>(trial.map_cost()), static_cast<double>(map), 1.0);
  return trial.maps();
}

TEST(MapTrial, begins_with_the_map) {
  const btl::MapTrial trial;
  EXPECT_TRUE(trial.maps());
  EXPECT_TRUE(trial.trying());
}

TEST(MapTrial, a_map_that_brings_nothing_is_not_chosen) {
  EXPECT_FALSE(map_is_chosen(1000, 1000));
  EXPECT_FALSE(map_is_chosen(1000, 1050));
  EXPECT_FALSE(map_is_chosen(1500, 1000));
}

TEST(MapTrial, a_map_that_is_faster_is_chosen) {
  EXPECT_TRUE(map_is_chosen(1000, 1200));
  EXPECT_TRUE(map_is_chosen(300, 1000));
}

TEST(MapTrial, is_tried_again_after_a_while) {
  btl::MapTrial trial;
  while (trial.trying()) trial.took(100);
  int counted = 0;
  for (; !trial.trying() && counted < 100'000; ++counted) trial.count();
  EXPECT_EQ(counted, 32768);
  EXPECT_TRUE(trial.maps());
}

/// Rank 0 gets what rank 1 has.
class MappedGets : public testing::Test {
 protected:
  void begin(std::vector<std::string> settings) {
    harness = std::make_unique<ShmHarness>(2, std::move(settings));
    owned.emplace(harness->segment(1), 8);
    harness->endpoint(1, 0);
    auto made = owned->allocate(kBytes);
    ASSERT_TRUE(made) << made.error().text();
    memory = *made;
  }
  void TearDown() override {
    owned.reset();
    harness.reset();
  }
  static btl::RemoteBuffer at(const std::byte* address) {
    return {reinterpret_cast<std::uintptr_t>(address), 0};
  }
  /// Gets again until it is done; false: it has failed.
  bool get(const std::byte* from, std::size_t bytes = kBytes) {
    struct Told : btl::Completion {
      static void set(btl::Completion* self, bool ok) noexcept { static_cast<Told*>(self)->ok = ok; }
      bool ok = true;
    } told;
    told.done = &Told::set;
    target.assign(bytes, std::byte{0});
    const Deadline deadline = Deadline::after_seconds(60);
    Post post = Post::again;
    while (post == Post::again && !deadline.passed()) {
      post = harness->endpoint(0, 1).get(at(from), target, &told);
      if (post == Post::again) ::usleep(100);
    }
    return told.ok && post == Post::done;
  }
  /// Fills the memory with this, gets it, and compares.
  bool brings(int mark) {
    std::memset(memory, mark, kBytes);
    return get(memory) && target == std::vector<std::byte>(kBytes, static_cast<std::byte>(mark));
  }
  std::uint64_t mapped() { return harness->component(0).counters().mapped_gets; }
  std::string notes() {
    std::string all;
    for (const std::string& note : harness->component(0).counters().notes) all += note + "\n";
    return all;
  }
  bool kernel_reads() { return harness->endpoint(0, 1).can_get(at(nullptr)); }

  std::unique_ptr<ShmHarness> harness;
  std::optional<shm::OwnedMemory> owned;
  std::byte* memory = nullptr;
  std::vector<std::byte> target;
};

TEST_F(MappedGets, without_the_kernel_the_map_is_waited_for) {
  begin({"STARLING_MCA_shm_cma=no"});
  EXPECT_TRUE(harness->component(0).limits().can.has(btl::Capability::get));
  EXPECT_TRUE(harness->endpoint(0, 1).can_get(at(memory)));
  EXPECT_FALSE(harness->endpoint(0, 1).can_get(at(memory + kBytes + 100'000'000)));
  EXPECT_TRUE(brings(3));
  EXPECT_TRUE(brings(4));
  EXPECT_EQ(mapped(), 2u);
}

TEST_F(MappedGets, without_the_kernel_other_memory_is_refused) {
  begin({"STARLING_MCA_shm_cma=no"});
  std::vector<std::byte> own(kBytes);
  EXPECT_FALSE(get(own.data()));
  EXPECT_EQ(mapped(), 0u);
}

TEST_F(MappedGets, what_cannot_be_handed_over_is_noted_and_not_possible_any_more) {
  begin({"STARLING_MCA_shm_cma=no"});
  shm::memory_table(harness->segment(1), 1)->segment_server.store(0x3030303030);  // a name that nobody has
  EXPECT_FALSE(get(memory));
  EXPECT_FALSE(harness->endpoint(0, 1).can_get(at(memory)));
  EXPECT_NE(notes().find("cannot be mapped: its owner's socket"), std::string::npos) << notes();
}

TEST_F(MappedGets, never_means_never) {
  begin({"STARLING_MCA_shm_map=never"});
  if (!kernel_reads()) GTEST_SKIP() << "this machine does not let one process read another";
  for (int i = 1; i < 30; ++i) ASSERT_TRUE(brings(i));
  EXPECT_EQ(mapped(), 0u);
}

TEST_F(MappedGets, always_maps_as_soon_as_it_can) {
  begin({"STARLING_MCA_shm_map=always"});
  if (!kernel_reads()) GTEST_SKIP() << "this machine does not let one process read another";
  const Deadline deadline = Deadline::after_seconds(60);
  while (mapped() == 0 && !deadline.passed()) ASSERT_TRUE(brings(5));
  const std::uint64_t before = mapped();
  for (int i = 1; i <= 50; ++i) ASSERT_TRUE(brings(i));
  EXPECT_EQ(mapped(), before + 50);
}

TEST_F(MappedGets, both_ways_are_tried_and_the_report_says_what_came_of_it) {
  begin({});
  if (!kernel_reads()) GTEST_SKIP() << "this machine does not let one process read another";
  const Deadline deadline = Deadline::after_seconds(60);
  while (notes().find("tried from") == std::string::npos && !deadline.passed()) {
    ASSERT_TRUE(brings(static_cast<int>(mapped()) + 1));
  }
  EXPECT_GE(mapped(), 8u);
  EXPECT_GE(harness->component(0).counters().gets, mapped() + 9u);
  EXPECT_NE(notes().find("64 KiB: "), std::string::npos) << notes();
}

TEST_F(MappedGets, memory_made_anew_is_not_read_through_the_old_map) {
  begin({"STARLING_MCA_shm_cma=no"});
  for (int i = 1; i <= 60; ++i) {
    ASSERT_TRUE(brings(i)) << i;
    ASSERT_TRUE(owned->release(memory));
    memory = *owned->allocate(kBytes);
  }
  EXPECT_EQ(mapped(), 60u);
}

TEST_F(MappedGets, freed_memory_is_forgotten_when_idle_and_that_of_the_dead_at_their_end) {
  begin({"STARLING_MCA_shm_cma=no"});
  const auto maps = [] {
    int count = 0;
    char line[512];
    FILE* const all = std::fopen("/proc/self/maps", "r");
    while (std::fgets(line, sizeof line, all) != nullptr)
      count += std::strstr(line, "starling-memory") != nullptr;
    std::fclose(all);
    return count;
  };
  const auto idle_until = [&](int wanted) {
    const Deadline deadline = Deadline::after_seconds(60);
    while (maps() != wanted && !deadline.passed()) {
      for (int i = 0; i < 1000; ++i) harness->component(0).progress();
    }
    return maps() == wanted;
  };
  const int before = maps() - 1;  // the owner's
  ASSERT_TRUE(brings(1));
  EXPECT_EQ(maps(), before + 2);
  ASSERT_TRUE(owned->release(memory));
  EXPECT_TRUE(idle_until(before));
  memory = *owned->allocate(kBytes);
  ASSERT_TRUE(brings(2));
  EXPECT_EQ(maps(), before + 2);
  harness->segment(0).mark_ended(1);
  EXPECT_TRUE(idle_until(before + 1));
}

}  // namespace
}  // namespace starling::test
