// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Real processes for tests of attaching: forked, reaped, never left behind. Layer: tests.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace starling::test {

/// A forked process. Its body's result is its exit code; killed at the latest when this object goes.
class Process {
 public:
  explicit Process(const std::function<int()>& body) : pid_(::fork()) {
    if (pid_ == 0) _exit(body());
  }
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Process& operator=(Process&&) = delete;
  ~Process() { kill(); }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Its exit code, or 128 + signal.
  int wait() {
    int status = -1;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

/// One byte from one process to another.
class Signal {
 public:
  Signal() { EXPECT_EQ(::pipe(ends_), 0); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void give() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  void take() const {
    char byte = 0;
    EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
  }

 private:
  int ends_[2] = {-1, -1};
};

/// An abstract socket's address; `name` with '@' for the zero byte.
struct AbstractName {
  sockaddr_un address{};
  socklen_t length = 0;
  explicit AbstractName(const std::string& name) {
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

inline constexpr uid_t kAnotherUser = 12345;

/// Body of a Process of root's: becomes another user and listens under the name until it is killed.
inline int listen_as_another_user(const std::string& name, const Signal& listening) {
  const AbstractName address(name);
  if (::setresuid(kAnotherUser, kAnotherUser, kAnotherUser) != 0) return 1;
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  if (::bind(socket, address.get(), address.length) != 0) return 2;
  if (::listen(socket, 16) != 0) return 3;
  listening.give();
  for (;;) ::pause();
}

}  // namespace starling::test
