// SPDX-License-Identifier: BSD-3-Clause
// The environment of one rank. Layer: tools.

#include "tools/mpiexec/rank_environment.hpp"

#include <algorithm>

#include "frameworks/handed_records.hpp"
#include "frameworks/pmi/launchers.hpp"

namespace starling::mpiexec {
namespace {

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

/// Left over from a launcher around this one; a rank must see only what this mpiexec says.
bool belongs_to_a_launcher(std::string_view name) {
  for (const std::string_view exact :
       {"PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "PMI_SPAWNED", "PMI_HOSTNAME", "STARLING_JOB",
        "STARLING_PMI_FEATURES", pmi::kRankMark, "STARLING_SHM_FD", plugin::kHandedRecordsVariable,
        "STARLING_LOCAL_RANK", "STARLING_LOCAL_SIZE", "STARLING_NODE", "OMPI_MCA_orte_local_daemon_uri"}) {
    if (name == exact) return true;
  }
  for (const std::string_view prefix : {"PMIX_", "OMPI_COMM_WORLD_", "PALS_"}) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

}  // namespace

RankEnvironment::RankEnvironment(char* const* inherited, const Variables& for_all) {
  for (; *inherited != nullptr; ++inherited) {
    if (!belongs_to_a_launcher(name_of(*inherited))) shared_.emplace_back(*inherited);
  }
  for (const auto& [name, value] : for_all) set(shared_, name, value);
}

void RankEnvironment::set(std::vector<std::string>& into, std::string_view name,
                          std::string_view value) const {
  const auto same = [name](const std::string& variable) { return name_of(variable) == name; };
  into.erase(std::remove_if(into.begin(), into.end(), same), into.end());
  into.push_back(std::string(name).append("=").append(value));
}

std::string_view RankEnvironment::value(std::string_view name) const {
  for (const std::string& variable : shared_) {
    if (name_of(variable) == name) return std::string_view(variable).substr(name.size() + 1);
  }
  return {};
}

char* const* RankEnvironment::block(const Variables& of_program, const Variables& own) {
  own_.clear();
  for (const auto& [name, value] : of_program) set(own_, name, value);
  for (const auto& [name, value] : own) set(own_, name, value);
  pointers_.clear();
  for (std::string& variable : shared_) {
    const auto replaced = [&](const std::string& other) { return name_of(other) == name_of(variable); };
    if (std::none_of(own_.begin(), own_.end(), replaced)) pointers_.push_back(variable.data());
  }
  for (std::string& variable : own_) pointers_.push_back(variable.data());
  pointers_.push_back(nullptr);
  return pointers_.data();
}

}  // namespace starling::mpiexec
