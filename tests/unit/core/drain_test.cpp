// SPDX-License-Identifier: BSD-3-Clause
// Waiting for readers of pipes and sockets. Layer: tests.

#include "core/drain.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/unique_fd.hpp"

namespace starling {
namespace {

struct Ends {
  UniqueFd reader;
  UniqueFd writer;
};

Ends make_pipe() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Ends make_socket() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

class Drain : public testing::TestWithParam<Ends (*)()> {};

TEST_P(Drain, is_over_at_once_where_nothing_was_written) {
  const Ends ends = GetParam()();
  EXPECT_TRUE(await_read(ends.writer.get(), Deadline::after_ns(0)));
}

TEST_P(Drain, ends_when_all_was_read) {
  const Ends ends = GetParam()();
  ASSERT_EQ(::write(ends.writer.get(), "last words", 10), 10);
  std::atomic<bool> reading{false};
  std::thread reader([&] {
    char bytes[5];
    EXPECT_EQ(::read(ends.reader.get(), bytes, 5), 5);
    ::usleep(20'000);
    reading = true;
    EXPECT_EQ(::read(ends.reader.get(), bytes, 5), 5);
  });
  EXPECT_TRUE(await_read(ends.writer.get(), Deadline::after_seconds(60)));
  EXPECT_TRUE(reading) << "half of it was still unread";
  reader.join();
}

TEST_P(Drain, gives_up_where_nobody_reads) {
  const Ends ends = GetParam()();
  ASSERT_EQ(::write(ends.writer.get(), "x", 1), 1);
  EXPECT_FALSE(await_read(ends.writer.get(), Deadline::after_ns(1'000'000)));
}

INSTANTIATE_TEST_SUITE_P(kinds, Drain, testing::Values(&make_pipe, &make_socket),
                         [](const auto& kind) { return kind.index == 0 ? "pipe" : "socket"; });

TEST(DrainOthers, does_not_wait_for_files_and_what_is_closed) {
  const UniqueFd file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::write(file.get(), "x", 1), 1);
  EXPECT_TRUE(await_read(file.get(), Deadline()));
  EXPECT_TRUE(await_read(-1, Deadline()));
}

}  // namespace
}  // namespace starling
