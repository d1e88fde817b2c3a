// SPDX-License-Identifier: BSD-3-Clause
// What starting a job would do, and why: the startup plan. Layer: tools.
//
// The plan needs the transports' declarations, so the runtime is built here as in an MPI program: as a
// singleton, or as the process that it is when mpiexec or another launcher starts starling-info.

#include "mpi/group/group.hpp"
#include "mpi/runtime/runtime.hpp"
#include "tools/starling-info/sections.hpp"

namespace starling::info {

void print_plan(const Context&, Printer& printer) {
  auto runtime = mpi::Runtime::ensure();
  if (!runtime) {
    printer.title("Startup plan: none, MPI cannot be initialised here");
    printer.line(1, runtime.error().text());
    printer.fact("plan.error", runtime.error().text());
    return;
  }
  const std::uint32_t size = (*runtime)->world_size();
  const bool over_network = (*runtime)->node_ranks().size() < size;
  if (over_network) {
    const auto reached = (*runtime)->reach(*mpi::make_strided(ProcId{0, 0}, 1, size));
    if (!reached) printer.line(1, reached.error().text());
  }
  printer.title("Startup plan (process manager: " + (*runtime)->pmi().capabilities().server + ")");
  for (const std::uint32_t members :
       size > 1 ? std::vector{size} : std::vector<std::uint32_t>{1, 2, 64, 1024}) {
    const mpi::StartupPlan plan = (*runtime)->plan_for(members, over_network);
    printer.line(1, std::to_string(members) + (members == 1 ? " process" : " processes"));
    const auto lines = plan.lines();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      printer.line(2, lines[i]);
      printer.fact("plan." + std::to_string(members) + "." + std::to_string(i), lines[i]);
    }
  }
}

}  // namespace starling::info
