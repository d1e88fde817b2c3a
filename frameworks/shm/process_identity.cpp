// SPDX-License-Identifier: BSD-3-Clause
// Who a pid is, from /proc. Layer: framework.

#include "frameworks/shm/process_identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/unique_fd.hpp"

namespace starling::shm {

std::uint64_t start_time_of(std::uint32_t pid) noexcept {
  char path[32];
  std::snprintf(path, sizeof(path), "/proc/%u/stat", pid);
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  char text[1024];
  const ssize_t length = ::read(file.get(), text, sizeof(text) - 1);
  if (length <= 0) return 0;
  text[length] = '\0';
  // The second field is the program's name in parentheses, which may itself hold blanks and parentheses.
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] == '\0') return 0;
  const char state = at[2];
  if (state == 'Z' || state == 'X') return 0;
  for (int field = 2; field < 22; ++field) {
    at = std::strchr(at + 1, ' ');
    if (at == nullptr) return 0;
  }
  return std::strtoull(at + 1, nullptr, 10);
}

std::uint64_t pid_namespace() noexcept {
  struct stat facts {};
  return ::stat("/proc/self/ns/pid", &facts) == 0 ? static_cast<std::uint64_t>(facts.st_ino) : 0;
}

}  // namespace starling::shm
