// SPDX-License-Identifier: BSD-3-Clause
// shm/posix: meeting by name, leaving nothing behind, and what is refused.

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frameworks/shm/params.hpp"
#include "plugins/shm/posix/component.hpp"
#include "tests/unit/shm/segments.hpp"

namespace {

/// What happens the next time that somebody is about to attach to a segment that exists.
std::function<void()> before_sharing;

}  // namespace

/// The C library's, for this program.
extern "C" int flock(int fd, int how) noexcept {
  if ((how & LOCK_SH) != 0) {
    if (const auto happens = std::exchange(before_sharing, nullptr)) happens();
  }
  return static_cast<int>(::syscall(SYS_flock, fd, how));
}

namespace starling {
namespace {

class Posix : public test::SegmentFolder {
 protected:
  shm::SegmentSpec spec(std::uint32_t rank, std::uint32_t size, const std::string& job = "job") {
    return {.job = job,
            .node = 0,
            .local_rank = rank,
            .local_size = size,
            .bytes = shm::geometry_from(params, size).total_bytes()};
  }
  std::unique_ptr<shm::PosixComponent> component() {
    return std::make_unique<shm::PosixComponent>(params, directory);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      all.push_back(entry.path().filename());
    return all;
  }
  /// A process that attaches, tells so, and then lives until it is killed.
  pid_t spawn_attached(const std::string& job) {
    int told[2];
    EXPECT_EQ(::pipe(told), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto own = component();
      const auto segment = own->attach(spec(0, 2, job), Deadline::after_seconds(60));
      (void)!::write(told[1], segment ? "y" : "n", 1);
      for (;;) ::pause();
    }
    char answer = 'n';
    EXPECT_EQ(::read(told[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(told[0]);
    ::close(told[1]);
    return child;
  }
  static void kill_and_reap(pid_t child) {
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
};

TEST_F(Posix, processes_meet_by_name_and_the_last_one_removes_it) {
  auto a = component();
  auto b = component();
  auto first = a->attach(spec(0, 2), Deadline::after_seconds(60));
  auto second = b->attach(spec(1, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(first) << first.error().text();
  ASSERT_TRUE(second) << second.error().text();
  first->mapping.data()[200000] = std::byte{9};
  EXPECT_EQ(second->mapping.data()[200000], std::byte{9});
  ASSERT_EQ(names().size(), 1u);
  struct stat facts {};
  ASSERT_EQ(::stat((directory + "/" + names()[0]).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600u);
  *first = {};
  a.reset();
  EXPECT_EQ(names().size(), 1u);
  *second = {};
  b.reset();
  EXPECT_TRUE(names().empty());
}

TEST_F(Posix, the_name_goes_once_all_have_attached) {
  auto a = component();
  auto first = a->attach(spec(0, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(first);
  a->all_attached();
  EXPECT_TRUE(names().empty());
}

TEST_F(Posix, a_name_that_leads_to_another_segment_by_now_stays) {
  auto a = component();
  auto first = a->attach(spec(0, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(first && names().size() == 1);
  std::filesystem::remove(directory + "/" + names()[0]);
  auto b = component();
  auto second = b->attach(spec(0, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(second);
  a->all_attached();
  EXPECT_EQ(names().size(), 1u);
  *first = {};
  a.reset();
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(Posix, a_segment_whose_name_goes_while_it_is_looked_at_is_not_taken) {
  auto a = component();
  auto first = a->attach(spec(0, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(first);
  auto b = component();
  before_sharing = [&] { a->all_attached(); };
  auto second = b->attach(spec(1, 2), Deadline::after_seconds(60));
  ASSERT_FALSE(before_sharing) << "b has found the segment of a";
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(names().size(), 1u) << "b has made one that others find";
}

TEST_F(Posix, a_process_alone_on_its_node_needs_no_name) {
  auto a = component();
  auto only = a->attach(spec(0, 1), Deadline::after_seconds(60));
  ASSERT_TRUE(only) << only.error().text();
  EXPECT_TRUE(names().empty());
}

TEST_F(Posix, jobs_and_nodes_have_segments_of_their_own) {
  auto a = component();
  auto b = component();
  auto c = component();
  auto other_node = spec(0, 2);
  other_node.node = 1;
  auto first = a->attach(spec(0, 2, "one"), Deadline::after_seconds(60));
  auto second = b->attach(spec(0, 2, "two"), Deadline::after_seconds(60));
  auto third = c->attach(other_node, Deadline::after_seconds(60));
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(names().size(), 3u);
}

TEST_F(Posix, many_processes_at_once_make_one_segment) {
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto own = component();
      const auto geometry = shm::geometry_from(params, kProcesses);
      auto segment =
          own->attach(spec(static_cast<std::uint32_t>(i), kProcesses), Deadline::after_seconds(60));
      if (!segment) _exit(1);
      auto node = shm::NodeSegment::open(std::move(*segment), geometry, static_cast<std::uint32_t>(i));
      if (!node) _exit(2);
      node->enter();
      const Deadline deadline = Deadline::after_seconds(60);
      for (std::uint32_t other = 0; other < kProcesses; ++other) {
        while (node->slot(other).state.load() == 0) {
          if (deadline.passed()) _exit(3);
          ::usleep(100);
        }
      }
      own.reset();
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(Posix, what_a_killed_job_left_is_replaced_and_of_other_jobs_removed) {
  kill_and_reap(spawn_attached("same"));
  kill_and_reap(spawn_attached("other"));
  EXPECT_GE(names().size(), 1u);
  auto a = component();
  auto segment = a->attach(spec(0, 2, "same"), Deadline::after_seconds(60));
  ASSERT_TRUE(segment) << segment.error().text();
  auto node = shm::NodeSegment::open(std::move(*segment), shm::geometry_from(params, 2), 0);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->slot(0).pid.load(), 0u) << "attached to the leftover";
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(Posix, the_segment_of_a_living_job_is_never_removed) {
  const pid_t child = spawn_attached("living");
  auto a = component();
  auto segment = a->attach(spec(0, 2, "mine"), Deadline::after_seconds(60));
  EXPECT_TRUE(segment);
  EXPECT_EQ(names().size(), 2u);
  kill_and_reap(child);
}

TEST_F(Posix, links_wrong_modes_and_wrong_sizes_are_refused_and_left_alone) {
  const std::string probe = [&] {
    auto a = component();
    auto segment = a->attach(spec(0, 2), Deadline::after_seconds(60));
    EXPECT_TRUE(segment);
    return names().at(0);
  }();
  const std::string path = directory + "/" + probe;
  const std::string elsewhere = directory + "/elsewhere";
  std::ofstream(elsewhere) << "precious";
  const auto refused = [&](const char* text) {
    auto a = component();
    const auto segment = a->attach(spec(0, 2), Deadline::after_seconds(60));
    EXPECT_FALSE(segment);
    if (!segment) {
      EXPECT_EQ(segment.error().code, Errc::denied);
      EXPECT_NE(segment.error().text().find(path), std::string::npos);
      EXPECT_NE(segment.error().text().find(text), std::string::npos) << segment.error().text();
    }
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::symlink_status(path)));
    std::filesystem::remove(path);
  };
  std::filesystem::create_symlink(elsewhere, path);
  refused("link");
  std::filesystem::create_hard_link(elsewhere, path);
  ASSERT_EQ(::chmod(elsewhere.c_str(), 0600), 0);
  refused("second name");
  std::ofstream(path) << "";
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  refused("opened by others");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  refused("plain file");
  EXPECT_EQ(std::filesystem::file_size(elsewhere), 8u);
}

TEST_F(Posix, another_users_file_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of somebody else";
  auto a = component();
  auto segment = a->attach(spec(0, 2), Deadline::after_seconds(60));
  ASSERT_TRUE(segment);
  ASSERT_EQ(::chown((directory + "/" + names().at(0)).c_str(), 12345, 12345), 0);
  auto b = component();
  const auto refused = b->attach(spec(1, 2), Deadline::after_seconds(60));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("another user"), std::string::npos) << refused.error().text();
}

TEST_F(Posix, a_directory_where_others_could_swap_names_is_refused) {
  for (const mode_t mode : {0777u, 0707u, 0770u}) {  // everybody, others, its group
    ASSERT_EQ(::chmod(directory.c_str(), mode), 0);
    const auto refused = component()->attach(spec(0, 2), Deadline::after_seconds(60));
    ASSERT_FALSE(refused) << mode;
    EXPECT_NE(refused.error().text().find("sticky"), std::string::npos);
  }
  ASSERT_EQ(::chmod(directory.c_str(), 01777), 0);
  EXPECT_TRUE(component()->attach(spec(0, 2), Deadline::after_seconds(60)));
}

/// Exit code of `body`, run in a child where `directory` is a file system of `bytes`; -1: this machine does
/// not allow that.
template <class Body>
int in_small_directory(const std::string& directory, const char* size, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", directory.c_str(), "tmpfs", 0, size) != 0) {
      _exit(99);
    }
    _exit(body());
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WEXITSTATUS(status) == 99 ? -1 : WEXITSTATUS(status);
}

TEST_F(Posix, a_full_file_system_is_an_error_with_path_and_sizes) {
  const int code = in_small_directory(directory, "size=64k", [&] {
    const auto refused = component()->attach(spec(0, 500), Deadline::after_seconds(60));
    if (refused || refused.error().code != Errc::no_space) return 1;
    const std::string text = refused.error().text();
    if (text.find(directory + "/starling-") == std::string::npos) return 2;
    if (text.find("free: 65536 bytes") == std::string::npos) return 3;
    return names().empty() ? 0 : 4;
  });
  if (code < 0) GTEST_SKIP() << "no mount namespace of its own";
  EXPECT_EQ(code, 0);
}

TEST_F(Posix, a_file_system_that_fills_up_later_is_an_error_and_no_signal) {
  const int code = in_small_directory(directory, "size=64k", [&] {
    auto own = component();
    auto segment = own->attach(spec(0, 2), Deadline::after_seconds(60));
    if (!segment) return 1;
    auto node = shm::NodeSegment::open(std::move(*segment), shm::geometry_from(params, 2), 0);
    if (!node) return 2;
    std::size_t got = 0;
    for (int i = 0; i < 1000; ++i) {
      const auto extent = node->allocate(4096);
      if (!extent) break;
      node->at(*extent)[4095] = std::byte{1};
      ++got;
    }
    if (got == 0 || got > 15) return 3;
    const auto refused = node->allocate(4096);
    if (refused || refused.error().code != Errc::no_space) return 4;
    return refused.error().text().find("free: 0 bytes") != std::string::npos ? 0 : 5;
  });
  if (code < 0) GTEST_SKIP() << "no mount namespace of its own";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace starling
