// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One running job: its processes, their PMI connections, its end. Layer: tools.
///
/// One thread, one epoll loop: signals (signalfd), PMI sockets, labelled pipes and a few deadlines.
/// docs/design/pmi.md tells when a rank's end ends the job.
///
/// Threads:   one. Ownership: every process started here is waited for before run() returns; after a failure
///            also what the ranks left behind (this process is their subreaper).
/// Errors:    what stops a job from starting is a Result; afterwards one message on stderr and the exit code.

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "core/unique_fd.hpp"
#include "frameworks/pmi/wire.hpp"
#include "tools/mpiexec/guard.hpp"
#include "tools/mpiexec/node_memory.hpp"
#include "tools/mpiexec/options.hpp"
#include "tools/mpiexec/output.hpp"
#include "tools/mpiexec/placement.hpp"
#include "tools/mpiexec/pmi_server.hpp"
#include "tools/mpiexec/pmix/helper.hpp"
#include "tools/mpiexec/rank_environment.hpp"

namespace starling::mpiexec {

inline constexpr std::uint64_t kMs = 1'000'000;           ///< in nanoseconds
inline constexpr std::uint64_t kRankGraceNs = 250 * kMs;  ///< after a failure, for the others to end in order

struct JobSpec {
  Options options;
  JobLayout layout;
  std::vector<cpu_set_t> places;  ///< by rank; empty: nobody is bound
  std::string name;
  std::string host;
  rlimit descriptors{};     ///< what the ranks get: the limit that mpiexec itself was given
  sigset_t signal_mask{};   ///< likewise
  UniqueFd plugin_records;  ///< what the ranks need not read again; none: it could not be written
};

class Job {
 public:
  Job(JobSpec spec, const params::Registry& params, RankEnvironment& environment,
      std::unique_ptr<Guard> guard, std::unique_ptr<PmixHelper> pmix);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Starts all ranks; those that were started are ended again if one cannot be.
  [[nodiscard]] Result<void> start();
  /// Serves them to the end; gives the exit code.
  [[nodiscard]] int run();

 private:
  struct RankProcess {
    pid_t pid = 0;
    bool alive = false;
    bool own_group = true;
    UniqueFd socket;
    pmi::wire::Reader reader;
    std::string unsent;
    LabelledPipe pipes[2];
    int exit_code = 0;  ///< its own, or 128 + signal; once it has ended
    int stop_signal = 0;
    Deadline stop_deadline;      ///< a stopped rank ends the job at this time
    Deadline silent_deadline;    ///< its connection was closed while MPI is in use
    Phase pmix = Phase::silent;  ///< as the PMIx server saw it
    bool told = false;           ///< its failure was told, and the job is kept
  };
  enum class Source : std::uint32_t { signals, socket, out, err, pmix };
  /// A rank that has asked for the job's end; perhaps because of another one whose end is not known yet.
  struct AskedEnd {
    std::uint32_t rank;
    int exit_code;
    std::string text;
  };

  // job_start.cpp
  [[nodiscard]] Result<void> open_loop();
  [[nodiscard]] Result<void> start_rank(std::uint32_t rank);
  [[nodiscard]] Result<UniqueFd> open_output(const std::string& pattern, std::uint32_t rank);
  [[nodiscard]] std::string label_of(std::uint32_t rank) const;
  /// mpiexec's standard input once more, for one of all ranks.
  [[nodiscard]] Result<UniqueFd> open_input();
  /// What rank writes to, where it is not mpiexec's own output: files, or pipes whose lines are labelled.
  [[nodiscard]] Result<void> open_streams(std::uint32_t rank, UniqueFd (&outputs)[2]);
  [[nodiscard]] Variables rank_variables(std::uint32_t rank, std::uint64_t socket_inode) const;
  [[nodiscard]] Result<void> watch(const UniqueFd& epoll, int fd, Source source, std::uint32_t rank);

  // job.cpp
  void turn(std::uint64_t most_ns);
  void serve(std::uint32_t rank);
  void take(std::uint32_t rank, std::string_view bytes);
  void send(std::uint32_t rank, std::string_view text);
  void send_replies();
  void flush(std::uint32_t rank);
  void close_socket(std::uint32_t rank);
  void pump_streams(std::uint32_t stream);
  /// Tells of an output that cannot be written, and has the loop wait for what that output waits for.
  void settle_output(std::uint32_t stream);
  void write_the_rest();
  void check_stuck();
  void take_pmix_events();
  [[nodiscard]] int wait_ms() const;
  void on_deadlines();
  void report_waiting();

  // job_end.cpp
  void on_signals();
  void on_signal(int signal, bool from_terminal);
  void reap();
  void on_exit(std::uint32_t rank, int status);
  void say_exit_codes();
  /// Ends the job that a rank wants to end, once it is clear that no other rank is to blame.
  void settle_asked_end();
  void look_for_closed_connections();
  /// How far the rank has come in what it speaks: PMI or PMIx.
  [[nodiscard]] Phase phase_of(std::uint32_t rank) const;
  /// Whether that end of a rank ends the job.
  void judge(std::uint32_t rank, int status, const std::string& phase);
  void on_stop(std::uint32_t rank, int signal);
  [[nodiscard]] std::string name_of(std::uint32_t rank) const;
  void say(const std::string& text);
  /// The first call decides exit code and message; all ranks are asked to end, and killed after `grace_ns`.
  void end(int exit_code, const std::string& message, int signal, std::uint64_t grace_ns);
  /// A rank has failed: ends the job, or that rank alone where the job is to be kept.
  void lose(std::uint32_t rank, int exit_code, const std::string& message);
  void signal_all(int signal) noexcept;
  void kill_remains() noexcept;
  void remove_names() noexcept;

  JobSpec spec_;
  const params::Registry& params_;
  RankEnvironment& environment_;
  std::unique_ptr<Guard> guard_;
  std::unique_ptr<PmixHelper> pmix_;  ///< null: not asked for
  PmiServer server_;
  NodeMemory memory_;
  std::vector<RankProcess> ranks_;
  std::unordered_map<pid_t, std::uint32_t> rank_of_;
  std::vector<PmiServer::Reply> replies_;
  std::vector<cpu_set_t> places_;
  UniqueFd epoll_, signals_, null_;
  Output outputs_[2]{Output(1), Output(2)};
  UniqueFd piped_[2];     ///< the ranks' pipes to each output: in epoll_ while that one takes more
  bool full_[2] = {};     ///< instead of them the output itself is in epoll_
  UniqueFd reserved_[3];  ///< low numbers that the ranks' descriptors get
  std::uint32_t alive_ = 0;
  int exit_code_ = 0;
  bool ending_ = false;
  bool rank_deadlines_ = false;  ///< some rank may have one
  bool suspended_ = false;       ///< Ctrl-Z: the ranks were stopped by us
  bool asked_to_end_ = false;    ///< a signal to mpiexec
  bool leaves_output_ = false;   ///< told to end: what nobody reads is not waited for
  std::optional<AskedEnd> asked_end_;
  std::optional<std::uint32_t> never_came_;  ///< the first rank that has ended with 0 without any PMI contact
  Deadline kill_deadline_;
  Deadline timeout_;
  Deadline report_deadline_;
};

}  // namespace starling::mpiexec
