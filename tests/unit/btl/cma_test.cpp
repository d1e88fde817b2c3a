// SPDX-License-Identifier: BSD-3-Clause
// Reading another process's memory when the kernel gives less than was asked for. The linker puts a function
// of this file in the place of process_vm_readv (CMakeLists.txt), which does as little as a test wants.
#include "plugins/btl/shm/cma.hpp"

#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <span>
#include <vector>

namespace {

struct Kernel {
  std::vector<ssize_t> most;  // of each call; negative: an errno; none left: all that is asked for
  std::vector<std::size_t> asked;
};
Kernel* kernel = nullptr;

}  // namespace

extern "C" {
ssize_t __real_process_vm_readv(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                                unsigned long);
ssize_t __wrap_process_vm_readv(pid_t pid, const iovec* here, unsigned long here_count, const iovec* there,
                                unsigned long there_count, unsigned long flags) {
  EXPECT_EQ(here_count, 1u);
  EXPECT_EQ(there_count, 1u);
  EXPECT_EQ(here->iov_len, there->iov_len);
  const std::size_t call = kernel->asked.size();
  kernel->asked.push_back(here->iov_len);
  iovec to = *here, from = *there;
  if (call < kernel->most.size()) {
    if (kernel->most[call] < 0) {
      errno = static_cast<int>(-kernel->most[call]);
      return -1;
    }
    to.iov_len = from.iov_len = std::min(to.iov_len, static_cast<std::size_t>(kernel->most[call]));
  }
  if (to.iov_len == 0) return 0;
  return __real_process_vm_readv(pid, &to, 1, &from, 1, flags);
}
}

namespace starling::btl {
namespace {

class Cma : public testing::Test {
 protected:
  Cma() { std::iota(from.begin(), from.end(), 0); }
  void SetUp() override { kernel = &told; }
  void TearDown() override { kernel = nullptr; }
  int read() {
    return read_process(::getpid(), reinterpret_cast<std::uint64_t>(from.data()),
                        std::as_writable_bytes(std::span(to)));
  }
  Kernel told;
  std::vector<std::uint32_t> from = std::vector<std::uint32_t>(2500), to = std::vector<std::uint32_t>(2500);
};

TEST_F(Cma, whole_at_once) {
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(told.asked, (std::vector<std::size_t>{10000}));
  EXPECT_EQ(to, from);
}

TEST_F(Cma, goes_on_where_the_kernel_stopped) {
  told.most = {4096, 1, 4095, 1000};
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(told.asked, (std::vector<std::size_t>{10000, 5904, 5903, 1808, 808}));
  EXPECT_EQ(to, from);
}

TEST_F(Cma, is_asked_again_after_a_signal) {
  told.most = {-EINTR, 5000, -EINTR};
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(told.asked, (std::vector<std::size_t>{10000, 10000, 5000, 5000}));
  EXPECT_EQ(to, from);
}

TEST_F(Cma, an_error_in_the_middle_is_the_result) {
  told.most = {4096, -EFAULT};
  EXPECT_EQ(read(), EFAULT);
  EXPECT_EQ(told.asked.size(), 2u);
}

TEST_F(Cma, nothing_more_is_an_error_and_no_endless_loop) {
  told.most = {4096, 0};
  EXPECT_EQ(read(), EFAULT);
  EXPECT_EQ(told.asked.size(), 2u);
}

TEST_F(Cma, a_process_that_is_not_known_is_not_asked) {
  EXPECT_EQ(read_process(0, reinterpret_cast<std::uint64_t>(from.data()), {}), ESRCH);
  EXPECT_TRUE(told.asked.empty());
}

}  // namespace
}  // namespace starling::btl
