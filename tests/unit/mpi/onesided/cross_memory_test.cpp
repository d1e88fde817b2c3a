// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/onesided/cross_memory.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace starling::mpi {
namespace {

/// A process that sleeps until the test ends, and has what its parent had.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_;
};

TEST(CrossMemory, tries_out_a_process_once) {
  const Probe probe = own_probe();
  const Child child;
  const CrossMemory there(child.pid());
  const Probe nowhere{8, probe.value};
  EXPECT_EQ(there.try_out(nowhere), EFAULT);
  EXPECT_EQ(there.try_out(probe), 0);
  EXPECT_EQ(there.try_out(nowhere), 0);  // not asked again
}

TEST(CrossMemory, tries_out_who_says_another_value) {
  const Probe probe = own_probe();
  const Child child;
  const CrossMemory there(child.pid());
  EXPECT_EQ(there.try_out(probe), 0);
  EXPECT_EQ(there.try_out({probe.address, probe.value + 1}), ESRCH);
  EXPECT_EQ(there.try_out({8, probe.value + 1}), EFAULT);
}

TEST(CrossMemory, tries_out_each_process) {
  const Probe probe = own_probe();
  const Child one;
  EXPECT_EQ(CrossMemory(one.pid()).try_out(probe), 0);
  const Child other;
  EXPECT_EQ(CrossMemory(other.pid()).try_out({8, probe.value}), EFAULT);
  EXPECT_EQ(CrossMemory(0).try_out(probe), ESRCH);
}

}  // namespace
}  // namespace starling::mpi
