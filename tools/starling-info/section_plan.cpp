// SPDX-License-Identifier: BSD-3-Clause
// What starting a job would do, and why: the startup plan. Layer: tools.
//
// The plan needs the transports' declarations, so the runtime is built here as in an MPI program: as the
// process that it is when a launcher starts starling-info, else as one alone that looks at what a job loads.

#include <algorithm>

#include "mpi/group/group.hpp"
#include "mpi/runtime/runtime.hpp"
#include "tools/starling-info/sections.hpp"

namespace starling::info {

namespace {

/// What the launchers of several nodes offer: PMI-1, as Hydra and Slurm have it.
pmi::Capabilities assumed() {
  pmi::Capabilities pmi;
  pmi.name_service = true;
  pmi.server = "PMI-1 of Hydra or Slurm";
  return pmi;
}

/// "btl/self, btl/shm": the components that such a job loads, in the order of the frameworks.
std::string loaded(const Context& context, mpi::Runtime& runtime, pmi::Speaks manager) {
  std::string text;
  const auto add = [&](std::string_view framework, std::string_view name) {
    text.append(text.empty() ? "" : ", ").append(framework).append("/").append(name);
  };
  for (const plugin::FrameworkInfo& framework : plugin::all_frameworks()) {
    if (framework.name == "btl") {
      for (const btl::Component* transport : runtime.transports().all()) add("btl", transport->name());
      continue;
    }
    const auto admitted = context.plugins.admitted(framework.name);
    if (!admitted) continue;
    for (const plugin::Candidate* candidate : *admitted) {
      add(framework.name, candidate->name);
      // All ways of sharing memory are asked; of the others the first that works, of which these are known.
      if (framework.name == "pmi" ? pmi::speaks(candidate->descriptor) == manager : framework.name != "shm")
        break;
    }
  }
  return text;
}

void print_lines(const mpi::StartupPlan& plan, const std::string& key, Printer& printer) {
  const auto lines = plan.lines();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    printer.line(2, lines[i]);
    printer.fact(key + "." + std::to_string(i), lines[i]);
  }
}

/// Of a job that is not there.
void print_job(const Context& context, mpi::Runtime& runtime, mpi::Builder::JobShape job, Printer& printer) {
  const std::string processes = job.size() == 1 ? "1 process" : std::to_string(job.size()) + " processes";
  printer.line(1, processes + (job.nodes == 1 ? " on one node"
                                              : " on " + std::to_string(job.nodes) + " nodes, " +
                                                    std::to_string(job.per_node) + " on each"));
  const std::string key = "plan." + std::to_string(job.size());
  const pmi::Capabilities pmi = job.size() == 1 ? runtime.pmi().capabilities() : assumed();
  const auto plan = runtime.builder().plan_for_job(job, pmi);
  if (!plan) {
    printer.line(2, "NOT POSSIBLE: " + plan.error().text());
    printer.fact(key + ".error", plan.error().text());
    return;
  }
  print_lines(*plan, key, printer);
  const std::string components =
      loaded(context, runtime, job.size() == 1 ? pmi::Speaks::nobody : pmi::Speaks::pmi1);
  printer.line(2, "loaded: " + components);
  printer.fact(key + ".loaded", components);
  for (const std::string& reason : runtime.transports().refused()) printer.line(2, "not loaded: " + reason);
}

void print_own_job(mpi::Runtime& runtime, Printer& printer) {
  const std::uint32_t size = runtime.place().world_size();
  const ProcListPtr everybody = mpi::make_strided(ProcId{0, 0}, 1, size);
  printer.title("Startup plan of this job (process manager: " + runtime.pmi().capabilities().server + ")");
  if (auto reached = runtime.builder().reach(*everybody); !reached) printer.line(1, reached.error().text());
  printer.line(1, std::to_string(size) + " processes");
  print_lines(runtime.builder().plan_for(*everybody), "plan." + std::to_string(size), printer);
}

}  // namespace

void print_plan(const Context& context, Printer& printer) {
  auto runtime = mpi::Runtime::ensure();
  if (!runtime) {
    printer.title("Startup plan: none, MPI cannot be initialised here");
    printer.line(1, runtime.error().text());
    printer.fact("plan.error", runtime.error().text());
    return;
  }
  const PlannedJob& wanted = context.planned;
  const bool asked = wanted.nodes != 0 || wanted.per_node != 0;
  if ((*runtime)->place().world_size() > 1) {
    print_own_job(**runtime, printer);
    if (asked) printer.line(1, "(--nodes and --ppn count where no launcher says what the job is)");
    return;
  }
  printer.title("Startup plan (no launcher here; assumed: " + assumed().server + ")");
  if (asked) {
    print_job(context, **runtime, {std::max(wanted.nodes, 1u), std::max(wanted.per_node, 1u)}, printer);
    return;
  }
  for (const std::uint32_t size : {1u, 2u, 64u, 1024u}) print_job(context, **runtime, {1, size}, printer);
  printer.line(1, "Of a job on several nodes: starling-info --plan --nodes M --ppn N");
}

}  // namespace starling::info
