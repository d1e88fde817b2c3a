// SPDX-License-Identifier: BSD-3-Clause
// Processors of a job, for processes that are bound and for jobs that are confined. Layer: tests.

#include "mpi/runtime/cores.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/unit/affinity.hpp"

namespace starling::mpi {
namespace {

/// What a child process finds, which ends with it.
int in_child(const std::function<int()>& find) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(find());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool bind_to_one() {
  const std::vector<int> allowed = test::processors();
  return !allowed.empty() && test::bind_to(allowed.front());
}

int cores() { return static_cast<int>(std::min<std::size_t>(cores_of_job(), 100)); }

constexpr int kNotBound = 101;

TEST(CoresOfJob, a_process_that_is_bound_counts_those_of_its_launcher) {
  EXPECT_EQ(in_child([] { return bind_to_one() ? cores() : kNotBound; }), cores());
}

TEST(CoresOfJob, a_job_that_is_confined_has_only_those) {
  EXPECT_EQ(in_child([] { return bind_to_one() ? in_child(cores) : kNotBound; }), 1);
}

}  // namespace
}  // namespace starling::mpi
