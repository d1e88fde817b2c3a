// SPDX-License-Identifier: BSD-3-Clause
// Bytes that wait in a pipe or socket. Layer: core.

#include "core/drain.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <ctime>

namespace starling {
namespace {

/// No event tells a writer that its pipe is empty.
constexpr long kPauseNs = 200'000;

/// Bytes written and not yet read; 0 also where this cannot be asked.
int unread_bytes(int fd) noexcept {
  struct stat state {};
  if (::fstat(fd, &state) != 0) return 0;
  int bytes = 0;
  // What the same call tells of a terminal is its input.
  if (S_ISFIFO(state.st_mode) && ::ioctl(fd, FIONREAD, &bytes) == 0) return bytes;
  if (S_ISSOCK(state.st_mode) && ::ioctl(fd, SIOCOUTQ, &bytes) == 0) return bytes;
  return 0;
}

}  // namespace

bool await_read(int fd, const Deadline& deadline) noexcept {
  while (unread_bytes(fd) > 0) {
    if (deadline.passed()) return false;
    const timespec pause{0, kPauseNs};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace starling
