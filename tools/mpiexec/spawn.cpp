// SPDX-License-Identifier: BSD-3-Clause
// vfork and what the child does before exec. Layer: tools.
//
// Hard here: the child runs in the parent's memory until exec. It makes only system calls, touches nothing
// but *failure, and resets signal handling (dispositions are its own) before it unblocks signals.

#include "tools/mpiexec/spawn.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

namespace starling::mpiexec {
namespace {

constexpr char kSpawn[] = "mpiexec";
enum class Step : int { none, parent_death, group, limit, descriptors, directory, binding, exec };

struct Failure {
  Step step = Step::none;
  int error = 0;
};

const char* name_of(Step step) {
  switch (step) {
    case Step::none: return "start";
    case Step::parent_death: return "set the parent-death signal";
    case Step::group: return "make a process group";
    case Step::limit: return "set the descriptor limit";
    case Step::descriptors: return "arrange descriptors";
    case Step::directory: return "enter the working directory";
    case Step::binding: return "bind to processors";
    case Step::exec: return "execute the program";
  }
  return "";
}

[[noreturn]] void give_up(volatile Failure* failure, Step step) noexcept {
  failure->error = errno;
  failure->step = step;
  ::_exit(127);
}

/// dup2 that also works when the number is right already: then only close-on-exec goes.
bool move_to(int from, int to) noexcept {
  if (from != to) return ::dup2(from, to) >= 0;
  const int flags = ::fcntl(from, F_GETFD);
  return flags >= 0 && ::fcntl(from, F_SETFD, flags & ~FD_CLOEXEC) == 0;
}

[[noreturn]] void become(const SpawnRequest& request, pid_t parent, volatile Failure* failure) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, request.death_signal) != 0) give_up(failure, Step::parent_death);
  if (::getppid() != parent) ::_exit(127);  // mpiexec was killed before prctl: the signal will never come
  if (request.own_group && ::setpgid(0, 0) != 0) give_up(failure, Step::group);
  for (int i = 0; i < 3; ++i) {
    if (request.stdio[i] >= 0 && !move_to(request.stdio[i], i)) give_up(failure, Step::descriptors);
  }
  for (const SpawnRequest::Kept& kept : request.kept) {
    if (kept.from >= 0 && !move_to(kept.from, kept.to)) give_up(failure, Step::descriptors);
  }
  if (request.descriptors != nullptr && ::setrlimit(RLIMIT_NOFILE, request.descriptors) != 0)
    give_up(failure, Step::limit);
  if (request.processors != nullptr &&
      ::sched_setaffinity(0, sizeof *request.processors, request.processors) != 0) {
    give_up(failure, Step::binding);
  }
  if (request.wdir != nullptr && ::chdir(request.wdir) != 0) give_up(failure, Step::directory);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &plain, nullptr);
  if (request.signal_mask != nullptr) ::sigprocmask(SIG_SETMASK, request.signal_mask, nullptr);
  ::execve(request.path, request.argv, request.environment);
  give_up(failure, Step::exec);
}

/// Kept out of line: vfork's caller must not share a frame with locals that change.
[[gnu::noinline]] pid_t vfork_and_become(const SpawnRequest& request, pid_t parent,
                                         volatile Failure* failure) noexcept {
  const pid_t pid = ::vfork();
  if (pid == 0) become(request, parent, failure);
  return pid;
}

bool is_program(const std::string& path, int& error) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    error = errno;
    return false;
  }
  if (S_ISDIR(facts.st_mode) || ::access(path.c_str(), X_OK) != 0) {
    error = EACCES;
    return false;
  }
  return true;
}

}  // namespace

Result<pid_t> spawn(const SpawnRequest& request) {
  volatile Failure failure;
  failure.step = Step::none;
  const pid_t pid = vfork_and_become(request, ::getpid(), &failure);
  if (pid < 0) {
    return fail(system_error(
        kSpawn, "cannot start another process (limits: `ulimit -u`, the container's pids.max)", errno));
  }
  if (failure.step == Step::none) return pid;
  const Step step = failure.step;
  const int error = failure.error;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (step == Step::exec && error == ENOEXEC && std::string_view(request.path) != "/bin/sh") {
    // A script without a first line that names its interpreter: a shell runs it, as it would from a shell.
    std::vector<char*> argv{const_cast<char*>("sh"), const_cast<char*>(request.path)};
    for (char* const* at = request.argv + 1; *at != nullptr; ++at) argv.push_back(*at);
    argv.push_back(nullptr);
    SpawnRequest by_shell = request;
    by_shell.path = "/bin/sh";
    by_shell.argv = argv.data();
    return spawn(by_shell);
  }
  std::string what = std::string("cannot ") + name_of(step);
  if (step == Step::directory) what += std::string(" ") + request.wdir;
  if (step == Step::exec) what += std::string(" ") + request.path;
  return fail(system_error(kSpawn, std::move(what), error));
}

Result<std::string> find_program(const std::string& name, const std::string& search_path,
                                 const std::string& wdir) {
  if (name.empty()) return fail(Errc::not_found, kSpawn, "the program's name is empty");
  int error = ENOENT;
  // The program is executed in its working directory.
  const auto seen_from_there = [&](const std::string& path) {
    return path[0] == '/' || wdir.empty() ? path : wdir + "/" + path;
  };
  if (name.find('/') != std::string::npos) {
    const std::string path = seen_from_there(name);
    if (is_program(path, error)) return name;
    if (error == EACCES) {
      return fail(Errc::denied, kSpawn,
                  "\"" + path + "\" is not an executable file (chmod +x, or a path to the program)");
    }
    return fail(Errc::not_found, kSpawn, "the program \"" + path + "\" does not exist");
  }
  bool seen = false;
  for (std::size_t at = 0; at <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', at), search_path.size());
    const std::string directory = end == at ? "." : search_path.substr(at, end - at);
    std::string path = directory + "/" + name;
    if (is_program(seen_from_there(path), error)) return path;
    seen = seen || error == EACCES;
    at = end + 1;
  }
  if (seen) return fail(Errc::denied, kSpawn, "\"" + name + "\" is in PATH, but is not an executable file");
  std::string hint = " is not in PATH";
  if (is_program(seen_from_there("./" + name), error)) hint += "; it is in this directory: write ./" + name;
  return fail(Errc::not_found, kSpawn, "the program \"" + name + "\"" + hint);
}

}  // namespace starling::mpiexec
