// SPDX-License-Identifier: BSD-3-Clause
// Starting the ranks: descriptors, variables, processes. Layer: tools.
//
// Hard here: a thousand ranks. The child's socket end is closed before the next rank is started, so
// descriptors stay at one per rank (three with labels), and every rank gets it under the same low number,
// reserved here.

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "frameworks/handed_records.hpp"
#include "frameworks/pmi/environment.hpp"
#include "tools/mpiexec/handled_signals.hpp"
#include "tools/mpiexec/job.hpp"
#include "tools/mpiexec/mpir.hpp"
#include "tools/mpiexec/spawn.hpp"

namespace starling::mpiexec {
namespace {

constexpr rlim_t kOwnDescriptors = 26;  ///< besides those of ranks and nodes

PmiJob pmi_job(const JobSpec& spec) {
  return {spec.name,         spec.layout.size,    spec.options.universe.value_or(spec.layout.size),
          spec.layout.nodes, spec.layout.program, spec.options.keep_job};
}

/// Raises the soft limit of this process; refuses if even the hard one is too low.
Result<void> raise_descriptor_limit(rlim_t needed) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return {};
  if (limit.rlim_max < needed) {
    return fail(Errc::no_space, kWhere,
                "this job needs " + std::to_string(needed) + " file descriptors, but the hard limit is " +
                    std::to_string(limit.rlim_max) +
                    "; raise it (`ulimit -Hn`, limits.conf) or start fewer ranks");
  }
  limit.rlim_cur = needed;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
    return fail(system_error(kWhere, "cannot raise the descriptor limit", errno));
  return {};
}

std::string filled_pattern(const std::string& pattern, const std::string& rank, const std::string& host,
                           const std::string& job) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    const std::string* const value = next == 'r' ? &rank : next == 'h' ? &host : next == 'p' ? &job : nullptr;
    if (value == nullptr) {
      path += pattern[i];
    } else {
      path += *value;
      ++i;
    }
  }
  return path;
}

}  // namespace

Job::Job(JobSpec spec, const params::Registry& params, RankEnvironment& environment,
         std::unique_ptr<Guard> guard, std::unique_ptr<PmixHelper> pmix)
    : spec_(std::move(spec)),
      params_(params),
      environment_(environment),
      guard_(std::move(guard)),
      pmix_(std::move(pmix)),
      server_(pmi_job(spec_)),
      memory_(params, spec_.name, spec_.layout),
      ranks_(spec_.layout.size),
      places_(std::move(spec_.places)) {
  outputs_[0].spare_lines_of(outputs_[1]);
}

Result<void> Job::watch(const UniqueFd& epoll, int fd, Source source, std::uint32_t rank) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = std::uint64_t{static_cast<std::uint32_t>(source)} << 32 | rank;
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return fail(system_error(kWhere, "epoll_ctl", errno));
  return {};
}

Result<void> Job::open_loop() {
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return fail(system_error(kWhere, "epoll_create1", errno));
  const sigset_t handled =
      handled_signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT});
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  signals_ = UniqueFd(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return fail(system_error(kWhere, "signalfd", errno));
  null_ = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_) return fail(system_error(kWhere, "cannot open /dev/null", errno));
  // Processes that outlive their rank become children of this one, so that none is left after a failure.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (pmix_) {
    if (auto watched = watch(epoll_, pmix_->fd(), Source::pmix, 0); !watched) return watched;
  }
  for (int i = 0; i < 2 && marks_lines(spec_.options); ++i) {
    piped_[i] = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    if (!piped_[i]) return fail(system_error(kWhere, "epoll_create1", errno));
    if (auto watched = watch(epoll_, piped_[i].get(), i == 0 ? Source::out : Source::err, 0); !watched)
      return watched;
  }
  return watch(epoll_, signals_.get(), Source::signals, 0);
}

Result<void> Job::start() {
  const rlim_t own =
      kOwnDescriptors + (marks_lines(spec_.options) ? 2 : 0) + outputs_[0].opened() + outputs_[1].opened();
  const rlim_t per_rank = marks_lines(spec_.options) ? 3 : 1;
  auto enough = raise_descriptor_limit(own + spec_.layout.local_size.size() + per_rank * spec_.layout.size);
  if (!enough) return enough;
  for (UniqueFd& reserved : reserved_) {
    reserved = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!reserved) return fail(system_error(kWhere, "cannot open /dev/null", errno));
  }
  if (auto opened = open_loop(); !opened) return opened;
  if (!memory_.reason().empty() && spec_.options.verbose)
    say("no inherited shared memory: " + memory_.reason());
  mpir_prepare(spec_.layout.size);
  for (std::uint32_t rank = 0; rank < spec_.layout.size; ++rank) {
    if (auto started = start_rank(rank); !started) {
      end(1, "", SIGKILL, 0);
      (void)run();
      return started;
    }
  }
  mpir_spawned();
  if (spec_.options.timeout_s) timeout_ = Deadline::after_seconds(*spec_.options.timeout_s);
  return {};
}

Variables Job::rank_variables(std::uint32_t rank, std::uint64_t socket_inode) const {
  const JobLayout& layout = spec_.layout;
  const std::uint32_t node = layout.node[rank];
  const std::string rank_text = std::to_string(rank);
  const std::string size_text = std::to_string(layout.size);
  const std::string local_rank = std::to_string(layout.local_rank[rank]);
  const std::string local_size = std::to_string(layout.local_size[node]);
  const pmi::Features features{.socket = socket_inode,
                               .vallen_max = kOwnVallenMax,
                               .universe_size = spec_.options.universe.value_or(layout.size),
                               .appnum = layout.program[rank],
                               .runs = 1,
                               .nodes = layout.nodes};
  Variables own{{"PMI_FD", std::to_string(reserved_[0].get())},
                {"PMI_RANK", rank_text},
                {"PMI_SIZE", size_text},
                {"STARLING_JOB", spec_.name},
                {"STARLING_PMI_FEATURES", features.text()},
                {"STARLING_LOCAL_RANK", local_rank},
                {"STARLING_LOCAL_SIZE", local_size},
                {"STARLING_NODE", std::to_string(node)},
                {"OMPI_COMM_WORLD_RANK", rank_text},
                {"OMPI_COMM_WORLD_SIZE", size_text},
                {"OMPI_COMM_WORLD_LOCAL_RANK", local_rank},
                {"OMPI_COMM_WORLD_LOCAL_SIZE", local_size},
                {"MPI_LOCALRANKID", local_rank},
                {"MPI_LOCALNRANKS", local_size}};
  if (pmix_) own.insert(own.end(), pmix_->variables(rank).begin(), pmix_->variables(rank).end());
  if (spec_.plugin_records)
    own.emplace_back(plugin::kHandedRecordsVariable, std::to_string(reserved_[2].get()));
  if (memory_.fd(node) >= 0) own.emplace_back("STARLING_SHM_FD", std::to_string(reserved_[1].get()));
  return own;
}

Result<UniqueFd> Job::open_output(const std::string& pattern, std::uint32_t rank) {
  const std::string path = filled_pattern(pattern, std::to_string(rank), spec_.host, spec_.name);
  // The first rank empties a file that several share; all append.
  const int truncate = rank == 0 || pattern.find("%r") != std::string::npos ? O_TRUNC : 0;
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | truncate, 0666));
  if (!fd) return fail(system_error(kWhere, "cannot write the output file " + path, errno));
  return fd;
}

std::string Job::label_of(std::uint32_t rank) const {
  const std::string number = std::to_string(rank);
  const std::string& pattern = spec_.options.label_pattern;
  if (!pattern.empty()) return filled_pattern(pattern, number, spec_.host, spec_.name);
  return spec_.options.labels ? "[" + number + "] " : "";
}

Result<UniqueFd> Job::open_input() {
  struct stat facts {};
  if (::fstat(STDIN_FILENO, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return fail(
        Errc::bad_parameter, kWhere,
        "option -stdin all: standard input has to be a file that each rank can read (mpiexec ... < FILE)");
  }
  UniqueFd fd(::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(system_error(kWhere, "cannot open standard input once more", errno));
  ::lseek(fd.get(), ::lseek(STDIN_FILENO, 0, SEEK_CUR), SEEK_SET);
  return fd;
}

Result<void> Job::open_streams(std::uint32_t rank, UniqueFd (&outputs)[2]) {
  const std::string* const patterns[2] = {&spec_.options.out_pattern, &spec_.options.err_pattern};
  for (int i = 0; i < 2; ++i) {
    if (!patterns[i]->empty()) {
      auto file = open_output(*patterns[i], rank);
      if (!file) return fail(std::move(file).error());
      outputs[i] = std::move(*file);
    } else if (i == 1 && spec_.options.merge) {
      outputs[1] = UniqueFd(::fcntl(outputs[0] ? outputs[0].get() : STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
      if (!outputs[1]) return fail(system_error(kWhere, "cannot copy standard output", errno));
    } else if (marks_lines(spec_.options)) {
      int ends[2] = {-1, -1};
      if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error(kWhere, "pipe2", errno));
      outputs[i] = UniqueFd(ends[1]);
      ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
      ranks_[rank].pipes[i] = LabelledPipe(UniqueFd(ends[0]), label_of(rank), spec_.options.times);
      if (auto ok = watch(piped_[i], ends[0], i == 0 ? Source::out : Source::err, rank); !ok) return ok;
    }
  }
  return {};
}

Result<void> Job::start_rank(std::uint32_t rank) {
  const Program& program = spec_.options.programs[spec_.layout.program[rank]];
  RankProcess& process = ranks_[rank];
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return fail(system_error(kWhere, "cannot make a socket for rank " + std::to_string(rank), errno));
  }
  process.socket = UniqueFd(pair[0]);
  const UniqueFd theirs(pair[1]);
  struct stat facts {};
  if (::fstat(theirs.get(), &facts) != 0) return fail(system_error(kWhere, "fstat", errno));

  SpawnRequest request;
  const InputTo& reader = spec_.options.input;
  auto input = reader.all ? open_input() : Result<UniqueFd>(UniqueFd());
  if (!input) return fail(std::move(input).error());
  UniqueFd outputs[2];
  if (auto ok = open_streams(rank, outputs); !ok) return ok;
  for (int i = 0; i < 2; ++i) request.stdio[i + 1] = outputs[i].get();
  const std::string wdir = !program.wdir.empty() ? program.wdir : spec_.options.wdir;
  auto path = find_program(program.argv[0], std::string(environment_.value("PATH")), wdir);
  if (!path) return fail(std::move(path).error());
  std::vector<char*> argv;
  for (const std::string& word : program.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  request.path = path->c_str();
  request.argv = argv.data();
  request.environment = environment_.block(program.env, rank_variables(rank, facts.st_ino));
  request.wdir = wdir.empty() ? nullptr : wdir.c_str();
  request.stdio[0] = reader.all ? input->get() : reader.rank == rank ? -1 : null_.get();
  request.kept[0] = {theirs.get(), reserved_[0].get()};
  request.kept[1] = {memory_.fd(spec_.layout.node[rank]), reserved_[1].get()};
  request.kept[2] = {spec_.plugin_records.get(), reserved_[2].get()};
  // A process group of its own would lose the right to read from the terminal.
  request.own_group = process.own_group = reader.rank != rank || ::isatty(0) == 0;
  request.descriptors = &spec_.descriptors;
  request.signal_mask = &spec_.signal_mask;
  if (!places_.empty()) request.processors = &places_[rank];
  auto pid = spawn(request);
  if (!pid) return fail(std::move(pid).error());
  process.pid = *pid;
  rank_of_[*pid] = rank;
  process.alive = true;
  ++alive_;
  mpir_add(rank, spec_.host, *path, *pid);
  if (spec_.options.verbose)
    say("rank " + std::to_string(rank) + " is pid " + std::to_string(*pid) + ": " + *path);
  return watch(epoll_, process.socket.get(), Source::socket, rank);
}

}  // namespace starling::mpiexec
