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

const char* name_of(Way way) noexcept {
  switch (way) {
    case Way::direct: return "direct";
    case Way::native: return "native";
    case Way::lookup: return "lookup";
    case Way::world: return "world";
  }
  return "?";
}

Result<ChosenWay> choose_way(GroupMode mode, const pmi::Capabilities& pmi, bool everybody) {
  switch (mode) {
    case GroupMode::native:
      if (!pmi.group_fence) return cannot("native", "fences of groups", pmi);
      return ChosenWay{Way::native, "bootstrap_group_mode=native"};
    case GroupMode::lookup:
      if (!pmi.name_service) return cannot("lookup", "name service", pmi);
      return ChosenWay{Way::lookup, "bootstrap_group_mode=lookup"};
    case GroupMode::world: return ChosenWay{Way::world, "bootstrap_group_mode=world"};
    case GroupMode::automatic: break;
  }
  if (pmi.get_without_fence) return ChosenWay{Way::direct, "the process manager answers before a fence"};
  if (pmi.group_fence) return ChosenWay{Way::native, "the process manager has fences of groups"};
  if (everybody) return ChosenWay{Way::world, "everybody takes part anyway"};
  if (pmi.name_service) return ChosenWay{Way::lookup, "no fences of groups, but a name service"};
  return ChosenWay{Way::world, "neither fences of groups nor a name service: all processes must take part"};
}

bool groups_need_world(GroupMode mode, const pmi::Capabilities& pmi, bool tree) {
  if (!tree) return mode == GroupMode::world && !pmi.group_fence;
  const auto chosen = choose_way(mode, pmi, false);
  return chosen && chosen->way == Way::world;
}

}  // namespace starling::bootstrap
