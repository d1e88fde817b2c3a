// SPDX-License-Identifier: BSD-3-Clause
// Flushing C's streams in bounded time. Layer: tests. The streams are those of a child, which ends by _exit.

#include "core/flush.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "core/unique_fd.hpp"

namespace starling {
namespace {

constexpr std::uint64_t kLongNs = 60'000'000'000;
constexpr std::uint64_t kShortNs = 50'000'000;

struct Written {
  int status = -1;
  std::string text;
};

/// What a child that runs `body` with a pipe as its buffered standard output has written.
Written written_by(const std::function<int()>& body) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(writer.get(), STDOUT_FILENO);
    static char buffer[4096];
    std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    ::_exit(body());
  }
  writer.reset();
  Written result;
  EXPECT_EQ(::waitpid(pid, &result.status, 0), pid);  // all that is written fits into the pipe
  char chunk[4096];
  for (ssize_t got = 0; (got = ::read(reader.get(), chunk, sizeof chunk)) > 0;)
    result.text.append(chunk, static_cast<std::size_t>(got));
  return result;
}

TEST(Flush, writes_what_streams_hold) {
  const Written done = written_by([] {
    std::fputs("held", stdout);
    return flush_streams(kLongNs) ? 0 : 1;
  });
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.text, "held");
}

TEST(Flush, writes_other_streams_too) {
  const Written done = written_by([] {
    std::FILE* const other = ::fdopen(::dup(STDOUT_FILENO), "w");
    std::fputs("other", other);
    return flush_streams(kLongNs) ? 0 : 1;
  });
  EXPECT_EQ(done.text, "other");
}

/// What is allocated next is not blank.
void leave_dirty_memory() {
  constexpr std::size_t kBytes = sizeof(sem_t);
  void* volatile chunk = std::malloc(kBytes);
  std::memset(chunk, 1, kBytes);
  std::free(chunk);
}

TEST(Flush, gives_up_where_the_pipe_is_full) {
  const Written done = written_by([] {
    std::fputs("held", stdout);
    const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
    ::fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
    const std::string much(1 << 20, 'x');
    while (::write(STDOUT_FILENO, much.data(), much.size()) > 0) {
    }
    ::fcntl(STDOUT_FILENO, F_SETFL, flags);
    leave_dirty_memory();
    return flush_streams(kShortNs) ? 0 : 1;
  });
  EXPECT_EQ(WEXITSTATUS(done.status), 1);
}

/// A thread that never gives back the lock of a stream.
void hold_for_ever(std::FILE* stream) {
  std::atomic<bool> held{false};
  std::thread([&held, stream] {
    ::flockfile(stream);
    held = true;
    ::pause();
  }).detach();
  while (!held) ::usleep(100);
}

TEST(Flush, gives_up_where_another_thread_holds_the_lock) {
  const Written done = written_by([] {
    std::fputs("held", stdout);
    hold_for_ever(stdout);
    return flush_streams(kShortNs) ? 0 : 1;
  });
  EXPECT_EQ(WEXITSTATUS(done.status), 1);
}

TEST(Flush, a_locked_stream_does_not_keep_standard_output_back) {
  const Written done = written_by([] {
    std::FILE* const other = ::fdopen(::dup(STDERR_FILENO), "w");
    std::fputs("held", stdout);
    hold_for_ever(other);
    return flush_streams(kShortNs) ? 0 : 1;
  });
  EXPECT_EQ(WEXITSTATUS(done.status), 1);
  EXPECT_EQ(done.text, "held");
}

TEST(Flush, writes_to_a_file_also_where_no_thread_can_be_had) {
  char path[] = "/tmp/starling-flush-XXXXXX";
  const UniqueFd file(::mkstemp(path));
  ::unlink(path);
  const Written done = written_by([&] {
    ::dup2(file.get(), STDOUT_FILENO);
    std::fputs("held", stdout);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NPROC, &none);
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 2;  // root has no such limit
    return flush_streams(kLongNs) ? 1 : 0;
  });
  EXPECT_EQ(done.status, 0);
  char text[5] = {};
  EXPECT_EQ(::pread(file.get(), text, 4, 0), 4);
  EXPECT_STREQ(text, "held");
}

}  // namespace
}  // namespace starling
