// SPDX-License-Identifier: BSD-3-Clause
// mpiexec: starts the ranks of a job on this machine and serves them. Layer: tools.

#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/clock.hpp"
#include "core/plugin/prefix.hpp"
#include "core/standard_descriptors.hpp"
#include "frameworks/handed_records.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "frameworks/select.hpp"
#include "frameworks/shm/params.hpp"
#include "mpi/runtime/declare.hpp"
#include "params/core_params.hpp"
#include "params/registry.hpp"
#include "tools/mpiexec/guard.hpp"
#include "tools/mpiexec/handover/handover.hpp"
#include "tools/mpiexec/hosts.hpp"
#include "tools/mpiexec/job.hpp"
#include "tools/mpiexec/leftovers.hpp"
#include "tools/mpiexec/spawn.hpp"

extern char** environ;

namespace starling::mpiexec {
namespace {

constexpr int kUsageExitCode = 2;

/// Unique on this machine, also when a pid is used again or /dev/shm is shared with another pid namespace.
std::string unique_job_name() {
  std::uint64_t random = now_ns();
  (void)!::getrandom(&random, sizeof random, GRND_NONBLOCK);
  char name[64];
  std::snprintf(name, sizeof name, "job-%ld-%016llx", static_cast<long>(::getpid()),
                static_cast<unsigned long long>(random));
  return name;
}

Result<void> take_environment(Options& options) {
  const char* const text = std::getenv("MPIEXEC_TIMEOUT");
  if (text == nullptr || *text == '\0' || options.timeout_s) return {};
  char* end = nullptr;
  const long seconds = std::strtol(text, &end, 10);
  if (*end != '\0' || seconds < 1 || seconds > 1 << 30) {
    return fail(Errc::bad_parameter, "mpiexec",
                std::string("MPIEXEC_TIMEOUT is \"") + text + "\"; a number of seconds was expected");
  }
  options.timeout_s = static_cast<std::uint32_t>(seconds);
  return {};
}

/// Puts --mca and --params where this process and its ranks read them.
Result<void> publish_settings(const Options& options) {
  if (!options.mca.empty()) {
    auto value = params::command_line_value(options.mca);
    if (!value) return fail(std::move(value).error());
    ::setenv(std::string(params::kCommandLineVariable).c_str(), value->c_str(), 1);
  }
  if (!options.params_file.empty()) {
    char path[PATH_MAX];
    // Ranks may run in another directory.
    const char* const resolved = ::realpath(options.params_file.c_str(), path);
    if (resolved == nullptr)
      return fail(Errc::not_found, "mpiexec",
                  "the parameter file " + options.params_file + " cannot be read");
    ::setenv(std::string(params::kJobFileVariable).c_str(), resolved, 1);
  }
  return {};
}

/// Declares all parameters, also those that only ranks read: a bad value is then refused once, before
/// anything starts, and not by every rank.
Result<plugin::Index> load_params(params::Registry& registry) {
  const std::string& prefix = plugin::installation().prefix;
  if (auto done = registry.load(params::Places::of_this_process(prefix)); !done)
    return fail(std::move(done).error());
  if (auto done = params::add_core(registry); !done) return fail(std::move(done).error());
  if (auto done = shm::register_params(registry); !done) return fail(std::move(done).error());
  if (auto done = mpi::declare_params(registry); !done) return fail(std::move(done).error());
  auto index = plugin::Index::scan(registry, prefix);
  if (!index) return fail(std::move(index).error());
  // Unknown names are rank 0's warning, or with mca_strict an error that ends here.
  if (auto unknown = params::unknown_names(registry); !unknown) return fail(std::move(unknown).error());
  return index;
}

bool may_speak_pmix(const plugin::Index& plugins) {
  const auto clients = plugins.admitted("pmi");
  return clients && std::any_of(clients->begin(), clients->end(), [](const plugin::Candidate* client) {
           return pmi::speaks(client->descriptor) == pmi::Speaks::pmix;
         });
}

/// For the ranks, so that they need not read the files again; none: they do.
UniqueFd records_of(const plugin::Index& plugins) {
  if (!plugins.refused_directories().empty()) return {};  // each rank is to see why
  auto written = plugin::write_records(plugin::installation().plugin_directory, plugins.candidates());
  return written ? std::move(*written) : UniqueFd();
}

int report(const Error& error) {
  const std::string text = error.where == "mpiexec" ? "mpiexec: " + error.detail : "mpiexec: " + error.text();
  std::fprintf(stderr, "%s\n", text.c_str());
  return error.code == Errc::bad_parameter ? kUsageExitCode
         : error.code == Errc::not_found   ? 127
         : error.code == Errc::denied      ? 126
                                           : 1;
}

/// Looks every program up before anything is started.
Result<void> check_programs(const Options& options, const RankEnvironment& environment) {
  for (const Program& program : options.programs) {
    const std::string wdir = program.wdir.empty() ? options.wdir : program.wdir;
    if (!wdir.empty() && ::access(wdir.c_str(), X_OK) != 0) {
      return fail(Errc::not_found, "mpiexec", "the working directory " + wdir + " cannot be entered");
    }
    auto path = find_program(program.argv[0], std::string(environment.value("PATH")), wdir);
    if (!path) return fail(std::move(path).error());
  }
  return {};
}

Result<std::unique_ptr<PmixHelper>> start_pmix(const JobSpec& spec) {
  if (spec.layout.local_size.size() > 1) {
    return fail(Errc::bad_parameter, kWhere,
                "option -pmi pmix serves one node; it does not go with -virtual-nodes");
  }
  return PmixHelper::start({spec.name, spec.host, spec.layout.program, spec.layout.local_rank});
}

int run_here(Options options) {
  auto offer = check_hosts(options.hosts);
  if (!offer) return report(offer.error());
  const PlacementWords& place = options.place;
  const bool needs_machine = place.bind.unit != Unit::none || place.map.per_unit > 0;
  const Machine machine = needs_machine ? machine_here() : Machine{};
  if (auto done = resolve_per_object(options.place, machine); !done) return report(done.error());
  auto layout = lay_out(options, *offer);
  if (!layout) return report(layout.error());
  params::Registry registry;
  const auto plugins = load_params(registry);
  if (!plugins) return report(plugins.error());

  if (auto done = check_input(options.input, layout->size); !done) return report(done.error());
  auto bound = places(place.bind, place.map, machine, layout->size);
  JobSpec spec{
      std::move(options), std::move(*layout), std::move(bound), unique_job_name(), host_name(), {}, {}, {}};
  if (spec.options.place.show) std::fputs(map_text(spec.layout, spec.places, spec.host).c_str(), stderr);
  spec.plugin_records = records_of(*plugins);
  ::getrlimit(RLIMIT_NOFILE, &spec.descriptors);
  ::sigprocmask(SIG_SETMASK, nullptr, &spec.signal_mask);
  std::signal(SIGPIPE, SIG_IGN);
  RankEnvironment environment(environ, spec.options.env);
  if (auto done = check_programs(spec.options, environment); !done) return report(done.error());
  std::unique_ptr<PmixHelper> pmix;
  if (spec.options.pmix) {
    auto started = start_pmix(spec);
    if (!started) return report(started.error());
    pmix = std::move(*started);
  }
  auto guard =
      std::make_unique<Guard>(spec.name, segment_paths(registry, spec.name, spec.layout.local_size.size()));
  Job job(std::move(spec), registry, environment, std::move(guard), std::move(pmix));
  if (auto started = job.start(); !started) return report(started.error());
  return job.run();
}

int print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  return report(system_error(kWhere, "standard output cannot be written", errno));
}

int run(int argc, char** argv) {
  auto options = parse_options(std::vector<std::string>(argv + 1, argv + argc));
  if (!options) return report(options.error());
  if (options->help) return print(help_text());
  if (options->version) return print("mpiexec (Starling) " STARLING_VERSION "\n");
  if (auto done = take_environment(*options); !done) return report(done.error());
  if (auto done = publish_settings(*options); !done) return report(done.error());
  const auto where = whereabouts(*options, pmi::process_environment());
  if (!where) return report(where.error());
  if (!where->note.empty()) std::fprintf(stderr, "%s\n", where->note.c_str());
  if (where->here) return run_here(std::move(*options));
  params::Registry registry;
  const auto plugins = load_params(registry);
  if (!plugins) return report(plugins.error());
  const auto code =
      hand_over(*options, *where, {pmi::process_environment(), may_speak_pmix(*plugins)}, unique_job_name());
  return code ? *code : report(code.error());
}

}  // namespace
}  // namespace starling::mpiexec

int main(int argc, char** argv) {
  // Daemons and agents start it without some of them; then its own sockets would be the ranks' output.
  starling::fill_standard_descriptors(starling::Filling::works);
  try {
    return starling::mpiexec::run(argc, argv);
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "mpiexec: %s\n", thrown.what());
    return 1;
  }
}
