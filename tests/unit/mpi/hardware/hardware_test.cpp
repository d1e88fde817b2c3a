// SPDX-License-Identifier: BSD-3-Clause
/// @file  Where a process is bound, on machines that hwloc makes up. hwloc reads its environment once, so
/// each case is a process of its own.

#include "mpi/hardware/hardware.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/unit/affinity.hpp"

namespace starling::mpi::hardware {
namespace {

using Domains = std::array<std::int32_t, 3>;
constexpr int kCannot = 99;

/// Exit code of a process that is bound to `processor` (negative: as this one) of the machine `described`: 0
/// if it finds what is expected.
int child(const char* described, int processor, const Domains& expected) {
  cpu_set_t before;
  if (::sched_getaffinity(0, sizeof before, &before) != 0) return kCannot;
  // Bound before the fork: a sanitizer's thread in the child belongs to the process, too.
  if (processor >= 0 && !test::bind_to(processor)) return kCannot;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("HWLOC_SYNTHETIC", described, 1);
    ::setenv("HWLOC_THISSYSTEM", "1", 1);  // the binding is asked for
    ::_exit(domains() == expected ? 0 : 1);
  }
  EXPECT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// Two processors that the test may use, and hwloc.
bool possible() { return ::sysconf(_SC_NPROCESSORS_ONLN) > 1 && child("pu:2", 1, {-1, 0, -1}) == 0; }

TEST(Hardware, domains_of_made_up_machines) {
  if (!possible()) GTEST_SKIP() << "needs hwloc and processors 0 and 1 to bind to";
  const char* const two_caches = "package:1 l3:2 core:2 pu:1";
  EXPECT_EQ(child(two_caches, 0, {0, 0, 0}), 0);
  EXPECT_EQ(child(two_caches, 1, {0, 0, 0}), 0);
  const char* const narrow_caches = "package:1 l3:2 core:1 pu:1";
  EXPECT_EQ(child(narrow_caches, 0, {0, 0, 0}), 0);
  EXPECT_EQ(child(narrow_caches, 1, {1, 0, 0}), 0);
  const char* const two_packages = "package:2 numa:1 l3:1 core:1 pu:1";
  EXPECT_EQ(child(two_packages, 0, {0, 0, 0}), 0);
  EXPECT_EQ(child(two_packages, 1, {1, 1, 1}), 0);
  const char* const without_l3 = "package:2 core:1 pu:1";
  EXPECT_EQ(child(without_l3, 1, {-1, 0, 1}), 0);
}

TEST(Hardware, a_process_that_may_run_everywhere_is_in_no_domain) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < ::sysconf(_SC_NPROCESSORS_ONLN)) GTEST_SKIP() << "the test itself is bound";
  EXPECT_EQ(child("package:1 l3:1 core:64 pu:1", -1, {-1, -1, -1}), 0);
}

}  // namespace
}  // namespace starling::mpi::hardware
