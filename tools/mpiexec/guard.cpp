// SPDX-License-Identifier: BSD-3-Clause
// Watching over mpiexec. Layer: tools.
//
// Hard here: whoever is killed may have started another process meanwhile, so the search is repeated until it
// finds nobody. The guard itself must hold nothing that others wait to be closed.

#include "tools/mpiexec/guard.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "core/clock.hpp"
#include "core/unique_fd.hpp"
#include "tools/mpiexec/leftovers.hpp"

namespace starling::mpiexec {
namespace {

constexpr std::uint64_t kSearchNs = 5'000'000'000;
constexpr useconds_t kPauseUs = 5'000;

/// Whether the variable stands in the environment that the process was started with. False if it may not be
/// read: then it is not ours to kill either.
bool has_variable(const char* pid, const std::string& variable) {
  const UniqueFd fd(::open((std::string("/proc/") + pid + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  std::string text(1, '\0');
  char chunk[16384];
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(chunk, static_cast<std::size_t>(got));
  }
  return text.find('\0' + variable + '\0') != std::string::npos;
}

/// Kills all processes with this variable but the own one; false: there are none.
bool kill_all_with(const std::string& variable) {
  DIR* const directory = ::opendir("/proc");
  if (directory == nullptr) return false;
  bool any = false;
  while (const dirent* const entry = ::readdir(directory)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || std::atoi(entry->d_name) == ::getpid()) continue;
    if (!has_variable(entry->d_name, variable)) continue;
    any |= ::kill(std::atoi(entry->d_name), SIGKILL) == 0;
  }
  ::closedir(directory);
  return any;
}

[[noreturn]] void watch(pid_t mpiexec, const std::string& job, const std::vector<std::string>& names) {
  ::setsid();  // what is typed at the terminal is for mpiexec
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
  ::close_range(3, ~0u, 0);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGUSR2);
  const UniqueFd parent(static_cast<int>(::syscall(SYS_pidfd_open, mpiexec, 0)));
  sigset_t awaited;
  ::sigemptyset(&awaited);
  ::sigaddset(&awaited, SIGUSR1);
  ::sigaddset(&awaited, SIGUSR2);
  // Somebody else may send that signal, too; and mpiexec may have died before prctl.
  while (::getppid() == mpiexec) {
    // Both processes are called mpiexec. Whoever asks this one what the ranks wait for asks the other.
    if (::sigwaitinfo(&awaited, nullptr) == SIGUSR1 && parent)
      (void)::syscall(SYS_pidfd_send_signal, parent.get(), SIGUSR1, nullptr, 0);
  }
  const Deadline limit = Deadline::after_ns(kSearchNs);
  while (kill_all_with("STARLING_JOB=" + job) && !limit.passed()) ::usleep(kPauseUs);
  remove_segments(names);
  ::_exit(0);
}

}  // namespace

Guard::Guard(const std::string& job, const std::vector<std::string>& names) {
  const pid_t mpiexec = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) watch(mpiexec, job, names);
  if (pid > 0) process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

Guard::~Guard() {
  if (!process_) return;
  // Containers may forbid it: then the guard ends as after mpiexec's death.
  if (::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0) != 0) return;
  siginfo_t info{};
  (void)::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(process_.get()), &info, WEXITED);
}

}  // namespace starling::mpiexec
