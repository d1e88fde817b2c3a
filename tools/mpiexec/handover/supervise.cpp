// SPDX-License-Identifier: BSD-3-Clause
// Waiting for an engine. Layer: tools.
//
// Hard here: an engine that is killed leaves its job on the other hosts. So it is asked, again if need be,
// and killed only as the last resort after a time limit.

#include "tools/mpiexec/handover/supervise.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/clock.hpp"
#include "tools/mpiexec/handled_signals.hpp"
#include "tools/mpiexec/options.hpp"
#include "tools/mpiexec/output.hpp"
#include "tools/mpiexec/remains.hpp"
#include "tools/mpiexec/spawn.hpp"

namespace starling::mpiexec {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kAskAgainNs = 15 * kSecond;  ///< srun waits for tasks that do not end
constexpr int kAsked = 3;                            ///< then the engine is killed
constexpr int kTimeoutExitCode = 124;

class Waiting {
 public:
  Waiting(const EngineRun& run, pid_t pid, const sigset_t& handled)
      : run_(run), pid_(pid), handled_(handled) {
    if (run.timeout_s) timeout_ = Deadline::after_seconds(*run.timeout_s);
  }

  int to_the_end() {
    for (;;) {
      const std::uint64_t left = std::min(timeout_.left_ns(), again_.left_ns());
      const std::uint64_t wait = std::min<std::uint64_t>(left, 3600 * kSecond);
      const timespec time{static_cast<time_t>(wait / kSecond), static_cast<long>(wait % kSecond)};
      siginfo_t info{};
      const int signal = ::sigtimedwait(&handled_, &info, &time);
      if (signal > 0 && signal != SIGCHLD) take(signal, info.si_code == SI_KERNEL);
      int status = 0;
      const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended == pid_) {
        messages_.flush();
        return code_of(status);
      }
      look_at_the_clock();
    }
  }

 private:
  /// Waits for nobody who reads it: see output.hpp.
  void say(const std::string& text) {
    messages_.add("mpiexec: " + text + "\n");
    messages_.flush();
  }

  void take(int signal, bool from_terminal) {
    if (signal == SIGUSR1) {
      say(std::string(run_.name) + " started the ranks: what they wait for is known on one machine only");
      return;
    }
    if (signal != SIGUSR2 && asked_by_ == 0) asked_by_ = signal;
    if (!from_terminal) ::kill(pid_, signal);  // the terminal has told everybody in its group
  }

  void look_at_the_clock() {
    if (timeout_.passed()) {
      timeout_ = Deadline{};
      timed_out_ = true;
      say("the job did not end within " + std::to_string(*run_.timeout_s) + " s");
      again_ = Deadline::after_ns(0);
    }
    if (!again_.passed()) return;
    ::kill(pid_, asked_++ < kAsked ? SIGTERM : SIGKILL);
    again_ = Deadline::after_ns(kAskAgainNs);
  }

  int code_of(int status) const {
    if (timed_out_) return kTimeoutExitCode;
    if (asked_by_ != 0) return 128 + asked_by_;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  const EngineRun& run_;
  pid_t pid_;
  sigset_t handled_;
  Output messages_{STDERR_FILENO};
  Deadline timeout_;
  Deadline again_;
  int asked_ = 0;
  int asked_by_ = 0;
  bool timed_out_ = false;
};

}  // namespace

Result<int> supervise(const EngineRun& run) {
  const sigset_t handled = handled_signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2});
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &handled, &before);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Open MPI's mpirun that is called by an absolute path changes the ranks' search paths.
  std::string name = run.path.substr(run.path.rfind('/') + 1);
  std::vector<char*> argv{name.data()};
  for (const std::string& word : run.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  SpawnRequest request;
  request.path = run.path.c_str();
  request.argv = argv.data();
  request.environment = run.environment;
  request.own_group = false;
  request.death_signal = SIGTERM;
  request.signal_mask = &before;
  auto pid = spawn(request);
  if (!pid) return fail(std::move(pid).error());
  const int code = Waiting(run, *pid, handled).to_the_end();
  if (code != 0) kill_children_for(kSecond);
  return code;
}

}  // namespace starling::mpiexec
