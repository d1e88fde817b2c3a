// SPDX-License-Identifier: BSD-3-Clause
// Taking the numbers 0, 1 and 2. Hard: another thread may take one at the same time. Layer: core.

#include "core/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace starling {
namespace {

bool is_closed(int fd) noexcept { return ::fcntl(fd, F_GETFD) < 0 && errno == EBADF; }

/// Opened in the direction that nobody uses, /dev/null refuses the other one.
int flags_for(int number, Filling filling) noexcept {
  if (filling == Filling::works) return O_RDWR;
  return number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
}

}  // namespace

void fill_standard_descriptors(Filling filling) noexcept {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (!is_closed(number)) continue;
    int got = ::open("/dev/null", flags_for(number, filling));
    // A place without /dev still has a root: such a descriptor neither reads nor writes.
    if (got < 0) got = ::open("/", O_PATH);
    if (got > STDERR_FILENO) ::close(got);  // somebody else has taken the number meanwhile
    if (got < 0) return;
  }
}

}  // namespace starling
