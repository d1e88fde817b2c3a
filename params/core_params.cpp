// SPDX-License-Identifier: BSD-3-Clause
// The parameters of core, and what mca_strict means. Layer: params.

#include "params/core_params.hpp"

#include "core/log.hpp"

namespace starling::params {

Result<void> add_core(Registry& registry) {
  static constexpr Decl kAll[] = {kMcaStrict, kPluginPath, kPluginStartTimeout, kLogLevel};
  auto added = registry.add("core", kAll);
  log::set_level(registry.choice<log::Level>(kLogLevel));
  return added;
}

Result<std::vector<std::string>> unknown_names(const Registry& registry) {
  std::vector<std::string> lines;
  for (const Unclaimed& name : registry.unclaimed()) lines.push_back(describe(name));
  if (lines.empty() || !registry.boolean(kMcaStrict)) return lines;
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "\n") + line;
  return fail(Errc::bad_parameter, {}, all + "\nmca_strict is set: unknown names are errors");
}

}  // namespace starling::params
