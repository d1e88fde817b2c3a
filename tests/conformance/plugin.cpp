// SPDX-License-Identifier: BSD-3-Clause
// Loading the plugin under test without the index: what is tested is this file, whatever else is installed.

#include "tests/conformance/plugin.hpp"

#include "core/plugin/loader.hpp"
#include "core/plugin/prefix.hpp"
#include "frameworks/builtin.hpp"
#include "params/core_params.hpp"

namespace starling::conformance {
namespace {

const plugin::Exported* linked_in(const std::string& label) {
  for (const plugin::Exported* each : plugin::builtins()) {
    const plugin::Descriptor& its = *each->descriptor;
    if (label == std::string(its.framework.view()) + "/" + std::string(its.name.view())) return each;
  }
  return nullptr;
}

}  // namespace

Result<Plugin> Plugin::open(const std::string& what, std::vector<std::string> settings) {
  Plugin opened;
  opened.settings_ = std::move(settings);
  if (const plugin::Exported* const found = linked_in(what)) {
    opened.exported_ = found;
    opened.examined_ = plugin::examine_builtin(*found);
    return opened;
  }
  opened.examined_ = plugin::examine_file(what);
  if (const std::string& why = opened.examined_.candidate.refusal; !why.empty())
    return fail(Errc::bad_input, "conformance", why);
  auto symbol = plugin::load_symbol(what, plugin::kEntrySymbol);
  if (!symbol) return fail(std::move(symbol).error());
  opened.exported_ = static_cast<const plugin::Exported*>(*symbol);
  return opened;
}

std::string Plugin::label() const {
  return std::string(descriptor().framework.view()) + "/" + std::string(descriptor().name.view());
}

Result<params::Registry> Plugin::parameters(const std::vector<std::string>& more) const {
  params::Places places = params::Places::of_this_process(plugin::installation().prefix);
  for (const auto* list : {&settings_, &more}) {
    for (const std::string& setting : *list) {
      const std::string name =
          std::string(params::kEnvironmentPrefix) + setting.substr(0, setting.find('=') + 1);
      std::erase_if(places.environment, [&](const std::string& entry) { return entry.starts_with(name); });
      places.environment.push_back(std::string(params::kEnvironmentPrefix) + setting);
    }
  }
  params::Registry registry;
  if (auto loaded = registry.load(places); !loaded) return fail(std::move(loaded).error());
  if (auto added = params::add_core(registry); !added) return fail(std::move(added).error());
  for (const plugin::FrameworkInfo& framework : plugin::all_frameworks()) {
    if (auto added = registry.add(framework.name, framework.params); !added)
      return fail(std::move(added).error());
  }
  if (auto added = registry.add(label(), examined_.candidate.manifest); !added)
    return fail(std::move(added).error());
  return registry;
}

params::Registry test_parameters(const std::vector<std::string>& more) {
  auto registry = plugin_under_test().parameters(more);
  EXPECT_TRUE(registry) << registry.error().text();
  return registry ? std::move(*registry) : params::Registry();
}

}  // namespace starling::conformance
