// SPDX-License-Identifier: BSD-3-Clause
// Signals, deaths, and the end of a job. Layer: tools. See docs/design/pmi.md.
//
// Hard here: a group may only be signalled while its leader is alive or not yet reaped, or the number may be
// somebody else's. So ends are first looked at (WNOWAIT), the group is signalled if the job is ending, and
// only then the leader is reaped.

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/mpiexec/job.hpp"
#include "tools/mpiexec/leftovers.hpp"
#include "tools/mpiexec/remains.hpp"

namespace starling::mpiexec {
namespace {

constexpr std::uint64_t kUserGraceNs = 5'000 * kMs;  ///< after Ctrl-C: time to write a checkpoint
constexpr std::uint64_t kStopGraceNs = 600 * kMs;    ///< a short stop (a debugger attaching) is nothing

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? std::to_string(signal) : std::string("SIG") + name;
}

}  // namespace

std::string Job::name_of(std::uint32_t rank) const {
  return "rank " + std::to_string(rank) + " pid " + std::to_string(ranks_[rank].pid) + " on " + spec_.host;
}

void Job::say(const std::string& text) {
  outputs_[1].add(text + "\n");
  outputs_[1].flush();
  settle_output(1);
}

void Job::signal_all(int signal) noexcept {
  for (const RankProcess& process : ranks_) {
    if (process.alive) ::kill(process.own_group ? -process.pid : process.pid, signal);
  }
}

void Job::end(int exit_code, const std::string& message, int signal, std::uint64_t grace_ns) {
  if (ending_) return;
  ending_ = true;
  if (exit_code_ == 0) exit_code_ = exit_code;
  if (!message.empty()) say(message);
  signal_all(signal);
  signal_all(SIGCONT);  // a stopped process sees nothing but SIGKILL
  kill_deadline_ = Deadline::after_ns(grace_ns);
}

void Job::lose(std::uint32_t rank, int exit_code, const std::string& message) {
  if (!spec_.options.keep_job) {
    end(exit_code, message, SIGTERM, kRankGraceNs);
    return;
  }
  RankProcess& process = ranks_[rank];
  say(message + "; the others go on");
  if (exit_code_ == 0) exit_code_ = exit_code;
  process.told = true;
  process.stop_deadline = process.silent_deadline = Deadline{};
  if (process.alive) ::kill(process.own_group ? -process.pid : process.pid, SIGKILL);
}

void Job::on_signals() {
  signalfd_siginfo info{};
  bool children = false;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) {
      children = true;
    } else {
      on_signal(static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL);
    }
  }
  if (children) reap();
}

void Job::on_signal(int signal, bool from_terminal) {
  switch (signal) {
    case SIGUSR1:
      for (std::uint32_t node = 0; node < spec_.layout.local_size.size(); ++node) memory_.ask(node);
      report_deadline_ = Deadline::after_ns(300 * kMs);
      return;
    case SIGUSR2: signal_all(SIGUSR2); return;
    case SIGTSTP:
      suspended_ = true;
      signal_all(SIGSTOP);
      ::kill(::getpid(), SIGSTOP);
      return;
    case SIGCONT:
      signal_all(SIGCONT);
      suspended_ = false;
      return;
    default: break;
  }
  if (asked_to_end_) {  // the second time: at once
    kill_deadline_ = Deadline::after_ns(0);
    ending_ = true;
    return;
  }
  asked_to_end_ = leaves_output_ = true;
  RankProcess& reader = ranks_[spec_.options.input.rank.value_or(0)];
  const bool terminal_did_it = from_terminal && !reader.own_group && reader.alive;
  if (!ending_) {
    // The rank in the terminal's own group has got this signal already.
    if (terminal_did_it) reader.alive = false;
    end(128 + signal, "", signal, kUserGraceNs);
    if (terminal_did_it) reader.alive = true;
  }
}

void Job::reap() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
      return;
    const pid_t pid = info.si_pid;
    const auto known = rank_of_.find(pid);
    const std::uint32_t rank = known == rank_of_.end() ? 0 : known->second;
    const bool ours = known != rank_of_.end() && ranks_[rank].alive;
    const bool ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
    if (ours && ended) on_exit(rank, info.si_code == CLD_EXITED ? info.si_status : -info.si_status);
    // What a rank that has failed started goes with it.
    if (ours && ended && (ending_ || ranks_[rank].told) && ranks_[rank].own_group) ::kill(-pid, SIGKILL);
    if (ours && info.si_code == CLD_STOPPED) on_stop(rank, info.si_status);
    if (ours && info.si_code == CLD_CONTINUED) ranks_[rank].stop_deadline = Deadline{};
    siginfo_t consumed{};
    ::waitid(P_PID, static_cast<id_t>(pid), &consumed,
             ended ? WEXITED | WNOHANG : WSTOPPED | WCONTINUED | WNOHANG);
  }
}

void Job::on_stop(std::uint32_t rank, int signal) {
  if (ending_ || suspended_ || spec_.options.allow_stop) return;
  ranks_[rank].stop_signal = signal;
  ranks_[rank].stop_deadline = Deadline::after_ns(kStopGraceNs);
  rank_deadlines_ = true;
}

void Job::on_exit(std::uint32_t rank, int status) {
  RankProcess& process = ranks_[rank];
  serve(rank);  // its last words, such as cmd=finalize, may still be in the socket
  take_pmix_events();
  const std::string phase = process.pmix == Phase::active      ? "while it used PMIx"
                            : process.pmix == Phase::finalized ? "after PMIx_Finalize"
                                                               : server_.describe(rank);
  process.alive = false;
  process.exit_code = status < 0 ? 128 - status : status;
  process.stop_deadline = Deadline{};
  process.silent_deadline = Deadline{};
  --alive_;
  server_.gone(rank, replies_);
  send_replies();
  if (status == 0 && phase_of(rank) == Phase::silent && !never_came_) never_came_ = rank;
  for (std::uint32_t stream = 0; stream < 2; ++stream) {
    process.pipes[stream].pump(outputs_[stream]);
    settle_output(stream);
  }
  // A rank that asked for the job's end and has ended since has already given the reason: settle_asked_end()
  // tells it.
  const bool has_asked = asked_end_ && asked_end_->rank == rank;
  if (!ending_ && !process.told && !has_asked) judge(rank, status, phase);
  // Not where the job ends: the others would report the loss a moment before they are told to end.
  if (!ending_) {
    memory_.mark_exited(rank, spec_.layout.node[rank], spec_.layout.local_rank[rank],
                        phase_of(rank) == Phase::idle || phase_of(rank) == Phase::finalized);
  }
  check_stuck();
}

void Job::say_exit_codes() {
  std::string text = "mpiexec: exit codes:";
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    text += (rank == 0 ? " " : ", ") + std::to_string(rank) + ": " + std::to_string(ranks_[rank].exit_code);
  say(text);
}

// A rank that has died closes its connections, ours first, and its peers may notice that and abort the job
// before we hear of its end. So whatever has been closed by now is read before a survivor is blamed.
void Job::look_for_closed_connections() {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].socket) continue;
    pollfd state{ranks_[rank].socket.get(), POLLIN, 0};
    if (::poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0) serve(rank);
  }
}

void Job::settle_asked_end() {
  reap();  // judges who has ended meanwhile
  for (const RankProcess& process : ranks_) {
    if (!process.silent_deadline.never() && !process.silent_deadline.passed()) return;  // about to end
  }
  const std::string text = asked_end_->text.empty() ? "" : ": " + asked_end_->text;
  const std::string with = "aborted the job with exit code " + std::to_string(asked_end_->exit_code) + text;
  const std::string who = "mpiexec: " + name_of(asked_end_->rank);
  const int code = asked_end_->exit_code & 0xff;
  // The words are the bootstrap's. A job may have ranks that never use MPI: only who was waited for is named.
  if (never_came_ && text.find("rank " + std::to_string(*never_came_) + " has ended") != std::string::npos) {
    end(code,
        "mpiexec: " + name_of(*never_came_) + ": has ended with exit code 0 before MPI_Init; rank " +
            std::to_string(asked_end_->rank) + " waited for it and " + with,
        SIGTERM, kRankGraceNs);
  }
  end(code == 0 ? 1 : code, who + ": " + with, SIGTERM, kRankGraceNs);
}

Phase Job::phase_of(std::uint32_t rank) const {
  const Phase pmi = server_.phase(rank);
  return pmi == Phase::silent ? ranks_[rank].pmix : pmi;
}

void Job::judge(std::uint32_t rank, int status, const std::string& phase) {
  const Phase reached = phase_of(rank);
  const bool finished = reached == Phase::idle || reached == Phase::finalized;
  const std::string who = "mpiexec: " + name_of(rank) + ": ";
  if (status < 0) {
    lose(rank, 128 - status, who + "signal " + signal_name(-status) + ", " + phase);
  } else if (status != 0 && finished) {
    // It has left MPI: the others may finish too, but the job has failed.
    say(who + "exit code " + std::to_string(status) + ", " + phase);
    if (exit_code_ == 0) exit_code_ = status;
  } else if (status != 0) {
    lose(rank, status, who + "exit code " + std::to_string(status) + ", " + phase);
  } else if (reached == Phase::active) {
    lose(rank, 1, who + "exit code 0 without MPI_Finalize, " + phase);
  }
}

void Job::remove_names() noexcept {
  for (const std::string& name : server_.job_names())
    remove_segments(segment_paths(params_, name, spec_.layout.local_size.size()));
}

void Job::kill_remains() noexcept { kill_children_for(1'000 * kMs); }

}  // namespace starling::mpiexec
