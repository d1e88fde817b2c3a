// SPDX-License-Identifier: BSD-3-Clause
// Every shm: the segment is there as asked, is the same for all of a node, and leaves nothing behind. Hard:
// other programs make files and segments meanwhile, so that what stays is recognised by a mark in its bytes.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "frameworks/shm/segment_name.hpp"
#include "tests/conformance/node_segments.hpp"
#include "tests/conformance/patience.hpp"
#include "tests/conformance/plugin.hpp"

namespace starling::conformance {
namespace {

namespace fs = std::filesystem;
using Handle = Plugin::Handle<shm::Framework>;

class Shm : public testing::Test {
 protected:
  void SetUp() override {
    // As a process that nobody has handed anything.
    ::unsetenv(shm::kInheritedFdVariable);
    ::unsetenv("STARLING_JOB");
  }
  Handle component() {
    auto made = plugin_under_test().create<shm::Framework>(shm::Args{params});
    EXPECT_TRUE(made) << "the factory cannot make a component here: " << made.error().text();
    return made ? std::move(*made) : Handle(nullptr, {nullptr});
  }
  /// Of a job that no other program has, and no other test.
  shm::SegmentSpec spec(std::uint32_t rank, std::uint32_t size, const std::string& job = "a") {
    return {.job = "conformance-" + std::to_string(::getpid()) + "-" +
                   testing::UnitTest::GetInstance()->current_test_info()->name() + "-" + job,
            .node = 0,
            .local_rank = rank,
            .local_size = size,
            .bytes = shm::geometry_from(params, size).total_bytes()};
  }
  static Result<shm::Segment> attach(Handle& by, const shm::SegmentSpec& spec) {
    auto segment = by->attach(spec, patience());
    EXPECT_TRUE(segment) << "attach(): " << segment.error().text();
    return segment;
  }
  params::Registry params = test_parameters();
};

/// Sixteen bytes at the end of a segment, by which it is known again.
class Mark {
 public:
  Mark() { std::ifstream("/dev/urandom").read(bytes_, sizeof bytes_); }
  void write(const shm::Segment& segment) const {
    EXPECT_EQ(::pwrite(segment.fd.get(), bytes_, sizeof bytes_, at(segment.mapping.size())), kBytes)
        << "the last bytes of the segment cannot be written through its descriptor";
  }
  [[nodiscard]] bool is_in(int fd, std::size_t bytes) const {
    char found[sizeof bytes_];
    return ::pread(fd, found, sizeof found, at(bytes)) == kBytes &&
           std::memcmp(found, bytes_, sizeof found) == 0;
  }
  /// Files of this user that are as long as the segment and have the mark.
  [[nodiscard]] std::vector<std::string> files(const params::Registry& params, std::size_t bytes) const {
    std::set<std::string> folders{"/dev/shm", "/tmp", "/run/shm"};
    for (const std::string_view name : {shm::kSegmentDirectoryParam}) {
      if (const auto* const value = params.find(name)) folders.insert(value->written);
    }
    std::vector<std::string> found;
    for (const std::string& folder : folders) {
      std::error_code ignored;
      for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        struct stat facts {};
        if (::lstat(entry.path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
            facts.st_uid != ::geteuid() || facts.st_size != static_cast<off_t>(bytes))
          continue;
        const UniqueFd fd(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (fd && is_in(fd.get(), bytes)) found.push_back(entry.path());
      }
    }
    return found;
  }

 private:
  static constexpr ssize_t kBytes = 16;
  static off_t at(std::size_t bytes) { return static_cast<off_t>(bytes) - kBytes; }
  char bytes_[kBytes] = {};
};

std::size_t descriptors() {
  const fs::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Of at least that many bytes: those of segments, and none of malloc's.
std::size_t mappings(std::size_t bytes) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char access[8] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, access) == 3 && access[3] == 's' &&
        end - begin >= bytes)
      ++count;
  }
  return count;
}

// First: a plugin that fails it may leave something of each test that follows.
TEST_F(Shm, nothing_stays_behind) {
  const std::size_t bytes = spec(0, 2).bytes;
  for (const bool all : {true, false}) {
    const Mark mark;
    const std::string when = all ? " after all_attached() and" : " after";
    const std::size_t descriptors_before = descriptors();
    const std::size_t mappings_before = mappings(bytes / 2);
    {
      auto first = component(), second = component();
      ASSERT_TRUE(first != nullptr && second != nullptr);
      auto made = attach(first, spec(0, 2));
      ASSERT_TRUE(made);
      mark.write(*made);
      auto other =
          first->has_name() ? second->attach(spec(1, 2), patience()) : Result<shm::Segment>(shm::Segment{});
      ASSERT_TRUE(other) << other.error().text();
      if (all) {
        first->all_attached();
        second->all_attached();
      }
    }
    const auto files = mark.files(params, bytes);
    EXPECT_TRUE(files.empty()) << "the file " << files.front() << " stays" << when << " the components' ends";
    for (const std::string& file : files) ::unlink(file.c_str());  // it is ours: it has our mark
    EXPECT_EQ(descriptors(), descriptors_before)
        << "a descriptor stays open" << when << " the components' ends";
    EXPECT_EQ(mappings(bytes / 2), mappings_before)
        << "memory stays mapped" << when << " the components' ends";
  }
}

TEST_F(Shm, the_segment_is_as_asked) {
  auto own = component();
  ASSERT_NE(own, nullptr);
  auto segment = attach(own, spec(0, 2));
  ASSERT_TRUE(segment);
  const std::size_t bytes = spec(0, 2).bytes;
  EXPECT_EQ(segment->mapping.size(), bytes) << "SegmentSpec::bytes are asked for";
  struct stat facts {};
  ASSERT_EQ(::fstat(segment->fd.get(), &facts), 0) << "Segment::fd stays open: pages are reserved through it";
  EXPECT_GE(facts.st_size, static_cast<off_t>(bytes))
      << "touching what lies behind the file's end is a SIGBUS";
  auto opened = shm::NodeSegment::open(std::move(*segment), shm::geometry_from(params, 2), 0);
  ASSERT_TRUE(opened) << "NodeSegment::initialise() has to be called by whoever makes it: "
                      << opened.error().text();
  opened->enter();
  EXPECT_TRUE(opened->alive(0));
}

TEST_F(Shm, all_bytes_behind_the_header_are_zero) {
  auto own = component();
  ASSERT_NE(own, nullptr);
  auto segment = attach(own, spec(0, 2));
  ASSERT_TRUE(segment);
  auto opened = shm::NodeSegment::open(std::move(*segment), shm::geometry_from(params, 2), 0);
  ASSERT_TRUE(opened) << opened.error().text();
  for (const std::uint32_t rank : {0u, 1u}) {
    ASSERT_TRUE(opened->reserve_area(rank));
    const std::byte* const area = opened->area(rank);
    EXPECT_TRUE(
        std::all_of(area, area + opened->area_bytes(), [](std::byte each) { return each == std::byte{0}; }))
        << "the area of local rank " << rank << " is not zero: all-zero bytes are the valid initial state";
    EXPECT_EQ(opened->slot(rank).state.load(), 0u) << "the slot of local rank " << rank << " is not zero";
  }
}

TEST_F(Shm, nothing_is_found_where_nobody_has_made_it) {
  auto own = component();
  ASSERT_NE(own, nullptr);
  const auto nothing = own->find(spec(0, 2, "nobody"), patience());
  ASSERT_FALSE(nothing) << "find() gives a segment though no process has made one";
  EXPECT_EQ(nothing.error().code, Errc::not_found) << nothing.error().text();
}

TEST_F(Shm, the_processes_of_a_node_have_the_same_memory) {
  auto first = component(), second = component();
  ASSERT_TRUE(first != nullptr && second != nullptr);
  auto made = attach(first, spec(0, 2));
  ASSERT_TRUE(made);
  auto found = second->find(spec(1, 2), patience());
  if (!first->has_name()) {
    EXPECT_FALSE(found) << "has_name() is false: others cannot find what attach() made";
    GTEST_SKIP() << "without a name, the framework hands it over";
  }
  ASSERT_TRUE(found) << "has_name() is true, but find() of another process fails: " << found.error().text();
  auto attached = attach(second, spec(1, 2));
  ASSERT_TRUE(attached);
  const Mark mark;
  mark.write(*made);
  for (const auto* const other : {&*found, &*attached}) {
    EXPECT_TRUE(mark.is_in(other->fd.get(), other->mapping.size()))
        << "has_name() is true, but what another process finds or attaches is other memory";
  }
}

TEST_F(Shm, the_processes_of_a_node_know_the_place_by_the_same_text) {
  auto first = component(), second = component();
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(first->meeting_place(), second->meeting_place())
      << "two processes that share memory would count as of two nodes";
  EXPECT_EQ(first->meeting_place().empty(), !first->has_name())
      << "meeting_place() is for memory that others find by its name, and for such memory only";
}

TEST_F(Shm, jobs_and_nodes_have_memory_of_their_own) {
  auto one = component(), two = component(), three = component();
  ASSERT_TRUE(one != nullptr && two != nullptr && three != nullptr);
  auto node = spec(0, 2, "one");
  node.node = 1;
  auto first = attach(one, spec(0, 2, "one"));
  auto second = attach(two, spec(0, 2, "two"));
  auto third = attach(three, node);
  ASSERT_TRUE(first && second && third);
  const Mark mark;
  mark.write(*first);
  EXPECT_FALSE(mark.is_in(second->fd.get(), second->mapping.size())) << "two jobs have the same memory";
  EXPECT_FALSE(mark.is_in(third->fd.get(), third->mapping.size())) << "two nodes have the same memory";
}

}  // namespace
}  // namespace starling::conformance
