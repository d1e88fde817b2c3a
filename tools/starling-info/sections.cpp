// SPDX-License-Identifier: BSD-3-Clause
// The list of sections, and what they look at. Layer: tools.

#include "tools/starling-info/sections.hpp"

#include "core/plugin/prefix.hpp"
#include "mpi/runtime/declare.hpp"
#include "params/core_params.hpp"

namespace starling::info {

std::span<const Section> all_sections() noexcept {
  static constexpr Section kSections[] = {
      {"build", "version, compiler, places", &print_build},
      {"components", "components found, and those that cannot be used, with the reason", &print_components},
      {"params", "parameters: value, origin, default, range, help", &print_parameters},
      {"coverage", "MPI functions that this build implements", &print_coverage},
      {"fortran", "Fortran compilers for which there are modules", &print_fortran},
      {"machine", "cores, caches, memory, shared memory", &print_machine},
      {"plan", "what starting a job does, and why: address exchange, barriers, peers", &print_plan},
  };
  return kSections;
}

Result<Context> look_around() {
  Context context;
  const plugin::Installation& here = plugin::installation();
  context.prefix = here.prefix;
  context.library = here.library;
  const params::Places places = params::Places::of_this_process(here.prefix);
  if (auto loaded = context.params.load(places); !loaded) return fail(std::move(loaded).error());
  // The parameters of mpi/ are declared by its runtime, which does not run here.
  if (auto added = mpi::declare_params(context.params); !added) {
    context.problems.push_back(added.error().text());
  }
  context.plugins = plugin::Index::inspect(context.params, here.prefix, {.at_secure = places.at_secure});
  for (const std::string& file : params::files_not_read(places)) context.warnings.push_back(file);
  for (const std::string& problem : context.plugins.problems()) context.problems.push_back(problem);
  for (const std::string& directory : context.plugins.refused_directories()) {
    context.warnings.push_back("plugin directory not searched: " + directory);
  }
  auto unknown = params::unknown_names(context.params);
  if (!unknown) {
    context.problems.push_back(unknown.error().text());
  } else {
    for (std::string& line : *unknown) context.warnings.push_back(std::move(line));
  }
  return context;
}

}  // namespace starling::info
