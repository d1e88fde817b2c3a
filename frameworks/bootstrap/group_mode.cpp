// SPDX-License-Identifier: BSD-3-Clause
// Native, by names, or with everybody. Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/group_mode.hpp"

namespace starling::bootstrap {
namespace {

Unexpected cannot(const char* mode, const std::string& what, const pmi::Capabilities& pmi) {
  return fail(Errc::unsupported, "bootstrap_group_mode=" + std::string(mode),
              "the process manager (" + pmi.server + ") has no " + what);
}

}  // namespace

const char* name_of(Discovery discovery) noexcept {
  switch (discovery) {
    case Discovery::direct: return "direct";
    case Discovery::native: return "native";
    case Discovery::lookup: return "lookup";
    case Discovery::world: return "world";
  }
  return "?";
}

Result<ChosenDiscovery> choose_discovery(GroupMode mode, const pmi::Capabilities& pmi, bool everybody) {
  switch (mode) {
    case GroupMode::native:
      if (!pmi.group_fence) return cannot("native", "fences of groups", pmi);
      return ChosenDiscovery{Discovery::native, "bootstrap_group_mode=native"};
    case GroupMode::lookup:
      if (!pmi.name_service) return cannot("lookup", "name service", pmi);
      return ChosenDiscovery{Discovery::lookup, "bootstrap_group_mode=lookup"};
    case GroupMode::world: return ChosenDiscovery{Discovery::world, "bootstrap_group_mode=world"};
    case GroupMode::automatic: break;
  }
  if (pmi.get_without_fence)
    return ChosenDiscovery{Discovery::direct, "the process manager answers before a fence"};
  if (pmi.group_fence) return ChosenDiscovery{Discovery::native, "the process manager has fences of groups"};
  if (everybody) return ChosenDiscovery{Discovery::world, "everybody takes part anyway"};
  if (pmi.name_service) return ChosenDiscovery{Discovery::lookup, "no fences of groups, but a name service"};
  return ChosenDiscovery{Discovery::world,
                         "neither fences of groups nor a name service: all processes must take part"};
}

bool groups_need_world(GroupMode mode, const pmi::Capabilities& pmi, bool tree) {
  if (!tree) return mode == GroupMode::world && !pmi.group_fence;
  const auto chosen = choose_discovery(mode, pmi, false);
  return chosen && chosen->discovery == Discovery::world;
}

}  // namespace starling::bootstrap
