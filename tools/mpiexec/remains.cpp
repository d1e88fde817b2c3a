// SPDX-License-Identifier: BSD-3-Clause
// Children that nobody else ends. Layer: tools.

#include "tools/mpiexec/remains.hpp"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/clock.hpp"

namespace starling::mpiexec {
namespace {

/// Parent of a process, 0 if it is gone.
pid_t parent_of(const char* pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%s/stat", pid);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  char line[1024] = {};
  const bool read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  const char* const name_end = read ? std::strrchr(line, ')') : nullptr;
  char state = 0;
  int parent = 0;
  if (name_end == nullptr || std::sscanf(name_end + 1, " %c %d", &state, &parent) != 2) return 0;
  return parent;
}

/// Kills whatever process is a child of this one; false: there is none.
bool kill_children() {
  DIR* const directory = ::opendir("/proc");
  if (directory == nullptr) return false;
  bool any = false;
  while (const dirent* const entry = ::readdir(directory)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || parent_of(entry->d_name) != ::getpid()) continue;
    ::kill(std::atoi(entry->d_name), SIGKILL);
    any = true;
  }
  ::closedir(directory);
  return any;
}

}  // namespace

void kill_children_for(std::uint64_t ns) noexcept {
  const Deadline limit = Deadline::after_ns(ns);
  while (!limit.passed()) {
    const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
    if (reaped < 0 && errno != EINTR) return;  // ECHILD: nobody is left
    if (reaped == 0 && kill_children()) ::usleep(1000);
  }
}

}  // namespace starling::mpiexec
