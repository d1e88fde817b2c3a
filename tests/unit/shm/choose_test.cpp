// SPDX-License-Identifier: BSD-3-Clause
// One segment for all processes of a node, whichever components can make it, and when they cannot.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "frameworks/shm/choose.hpp"
#include "frameworks/shm/params.hpp"
#include "plugins/shm/memfd/component.hpp"
#include "plugins/shm/posix/component.hpp"
#include "tests/unit/shm/processes.hpp"
#include "tests/unit/shm/segments.hpp"

namespace starling {
namespace {

using test::Process;

class Choose : public test::SegmentFolder {
 protected:
  shm::SegmentSpec spec(std::uint32_t rank, std::uint32_t size) const {
    return {.job = directory,
            .node = 0,
            .local_rank = rank,
            .local_size = size,
            .bytes = shm::geometry_from(params, size).total_bytes()};
  }
  /// The candidates that a process has, in the order in which the runtime finds the components.
  struct Candidates {
    Candidates(params::Registry& params, const std::string& directory, const std::string& names)
        : memfd(params, -1), posix(params, directory) {
      if (names != "posix") list.push_back({"memfd", &memfd});
      if (names != "memfd") list.push_back({"posix", &posix});
    }
    shm::MemfdComponent memfd;
    shm::PosixComponent posix;
    std::vector<shm::Candidate> list;
  };
  Result<shm::Attached> attach(Candidates& candidates, std::uint32_t rank, std::uint32_t size,
                               bool ordered = false) const {
    return shm::attach_node_segment(candidates.list, spec(rank, size), ordered, Deadline::after_seconds(60));
  }

  /// `size` processes attach at once, wait for all others in the segment, and end. The exit codes of those
  /// that did not get all are not 0. `expected` is the component that must have been used.
  void expect_all_meet(std::uint32_t size, const std::string& names, const std::string& expected) {
    std::vector<Process> all;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      all.emplace_back([&, rank] { return meet(rank, size, names, expected); });
    }
    for (Process& process : all) EXPECT_EQ(process.wait(), 0) << names;
    EXPECT_TRUE(std::filesystem::is_empty(directory) || blocked);
  }
  int meet(std::uint32_t rank, std::uint32_t size, const std::string& names, const std::string& expected) {
    Candidates candidates(params, directory, names);
    auto attached = attach(candidates, rank, size);
    if (!attached) return 1;
    if (candidates.list[attached->candidate].name != expected) return 2;
    auto node = shm::NodeSegment::open(std::move(attached->segment), shm::geometry_from(params, size), rank);
    if (!node) return 3;
    node->enter();
    const Deadline deadline = Deadline::after_seconds(60);
    for (std::uint32_t other = 0; other < size; ++other) {
      while (node->slot(other).state.load() == 0) {
        if (deadline.passed()) return 4;
        ::usleep(100);
      }
    }
    return 0;
  }
  /// Where a segment's name would be: found by letting one process make it.
  std::string path_of_segment() {
    Candidates candidates(params, directory, "posix");
    auto attached = attach(candidates, 0, 2);
    EXPECT_TRUE(attached) << attached.error().text();
    return std::filesystem::directory_iterator(directory)->path();
  }

  bool blocked = false;  // something in the directory is in the way
};

TEST_F(Choose, a_name_comes_first_and_a_memfd_if_it_is_asked_for) {
  expect_all_meet(6, "all", "posix");
  expect_all_meet(6, "posix", "posix");
  expect_all_meet(6, "memfd", "memfd");
}

TEST_F(Choose, the_users_order_counts) {
  Candidates candidates(params, directory, "all");
  const auto attached = attach(candidates, 0, 2, true);
  ASSERT_TRUE(attached) << attached.error().text();
  EXPECT_EQ(candidates.list[attached->candidate].name, "memfd");
  EXPECT_NE(attached->segment_server, nullptr);
}

TEST_F(Choose, a_process_alone_needs_neither_name_nor_socket) {
  Candidates candidates(params, directory, "all");
  const auto attached = attach(candidates, 0, 1);
  ASSERT_TRUE(attached) << attached.error().text();
  EXPECT_EQ(attached->segment_server, nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST_F(Choose, somebody_elses_name_leads_all_processes_to_a_memfd) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of somebody else";
  const std::string path = path_of_segment();
  const UniqueFd file(::open(path.c_str(), O_CREAT | O_RDWR, 0600));
  ASSERT_EQ(::fchown(file.get(), 12345, 12345), 0);
  blocked = true;
  expect_all_meet(6, "all", "memfd");
  Candidates candidates(params, directory, "all");
  const auto attached = attach(candidates, 0, 2);
  ASSERT_TRUE(attached);
  ASSERT_EQ(attached->refused.size(), 1u);
  EXPECT_NE(attached->refused[0].find("belongs to another user"), std::string::npos) << attached->refused[0];
  EXPECT_NE(attached->how.find("socket @starling-"), std::string::npos) << attached->how;
}

TEST_F(Choose, an_unusable_directory_is_an_error_if_only_names_are_allowed) {
  ASSERT_EQ(::chmod(directory.c_str(), 0777), 0);
  expect_all_meet(4, "all", "memfd");
  Candidates candidates(params, directory, "posix");
  const auto refused = attach(candidates, 0, 2);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("sticky"), std::string::npos) << refused.error().text();
}

TEST_F(Choose, a_name_that_appears_later_does_not_part_the_processes) {
  ASSERT_EQ(::chmod(directory.c_str(), 0777), 0);
  Candidates first(params, directory, "all");
  const auto memfd = attach(first, 0, 3);
  ASSERT_TRUE(memfd) << memfd.error().text();
  ASSERT_EQ(::chmod(directory.c_str(), 0700), 0);
  // The directory is fine again, but the first process has decided.
  Candidates second(params, directory, "all");
  const auto same = attach(second, 1, 3);
  ASSERT_TRUE(same) << same.error().text();
  memfd->segment.mapping.data()[200000] = std::byte{7};
  EXPECT_EQ(same->segment.mapping.data()[200000], std::byte{7});
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST_F(Choose, a_full_file_system_leads_to_a_memfd) {
  const int code =
      Process([&] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=256k") != 0) {
          return 99;
        }
        Candidates all(params, directory, "all");
        const auto attached = attach(all, 0, 4);
        if (!attached || all.list[attached->candidate].name != "memfd") return 1;
        return attached->refused.at(0).find("free: ") != std::string::npos ? 0 : 2;
      }).wait();
  if (code == 99) GTEST_SKIP() << "no mount namespace of its own";
  EXPECT_EQ(code, 0);
}

TEST_F(Choose, a_name_is_used_where_the_socket_is_somebody_elses) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  // The hijacker listens under the name of the election, as root's job would.
  const std::string name = shm::election_name(spec(0, 2));
  test::Signal listening;
  Process hijacker([&] { return test::listen_as_another_user(name, listening); });
  listening.take();
  Candidates all(params, directory, "all");
  const auto posix = attach(all, 0, 2);
  ASSERT_TRUE(posix) << posix.error().text();
  EXPECT_EQ(all.list[posix->candidate].name, "posix");
  Candidates memfd(params, directory, "memfd");
  const auto refused = attach(memfd, 0, 2);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("user 12345"), std::string::npos) << refused.error().text();
}

}  // namespace
}  // namespace starling
