// SPDX-License-Identifier: BSD-3-Clause
// Components by framework: what can be used, what the selection admits, and why files are not used. Layer:
// tools.

#include <algorithm>

#include "tools/starling-info/sections.hpp"

namespace starling::info {
namespace {

void print_candidate(const plugin::Candidate& candidate, bool admitted, Printer& printer) {
  const auto& descriptor = candidate.descriptor;
  const std::string key = "component." + candidate.framework + "." + candidate.name;
  const std::string file = candidate.file.empty() ? "linked in" : candidate.file;
  printer.fact(key + ".file", candidate.file);
  if (!candidate.refusal.empty()) {
    printer.line(1, candidate.name + "  NOT USABLE: " + candidate.refusal);
    printer.fact(key + ".refusal", candidate.refusal);
    return;
  }
  printer.line(1, candidate.name + (admitted ? "  " : "  (left out by the selection)  ") +
                      std::string(descriptor.summary.view()));
  printer.line(2, "priority " + std::to_string(descriptor.priority) + ", version " +
                      std::string(descriptor.version.view()) + ", " + file);
  printer.fact(key + ".summary", descriptor.summary.view());
  printer.fact(key + ".version", descriptor.version.view());
  printer.fact(key + ".priority", std::int64_t{descriptor.priority});
  printer.fact(key + ".admitted", std::int64_t{admitted});
}

}  // namespace

void print_components(const Context& context, Printer& printer) {
  const auto& all = context.plugins.candidates();
  for (const plugin::FrameworkInfo& framework : plugin::all_frameworks()) {
    printer.title("components: " + std::string(framework.name));
    const auto admitted = context.plugins.admitted(framework.name);
    // Without a single component the lines below say all there is.
    const bool any =
        std::any_of(all.begin(), all.end(), [&](const auto& c) { return c.framework == framework.name; });
    if (!admitted && any) printer.line(1, "SELECTION: " + admitted.error().text());
    if (!admitted)
      printer.fact("framework." + std::string(framework.name) + ".problem", admitted.error().text());
    if (!any) printer.line(1, "none");
    for (const plugin::Candidate& candidate : all) {
      if (candidate.framework != framework.name) continue;
      const bool in =
          admitted && std::find(admitted->begin(), admitted->end(), &candidate) != admitted->end();
      print_candidate(candidate, in, printer);
    }
  }
  const auto foreign = [&](const plugin::Candidate& candidate) {
    const auto frameworks = plugin::all_frameworks();
    return std::none_of(frameworks.begin(), frameworks.end(),
                        [&](const auto& framework) { return framework.name == candidate.framework; });
  };
  if (std::any_of(all.begin(), all.end(), foreign)) printer.title("files of no framework");
  for (const plugin::Candidate& candidate : all) {
    if (foreign(candidate)) print_candidate(candidate, false, printer);
  }
}

}  // namespace starling::info
