// SPDX-License-Identifier: BSD-3-Clause
// The hints that communicators know. Layer: mpi. MPI 5.0 sections 7.4.4, 11.4.3.

#include "mpi/comm/hints.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace starling::mpi {
namespace {

constexpr std::string_view kAssertions[] = {
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
};

bool is_known(std::string_view key, std::string_view value) {
  return std::find(std::begin(kAssertions), std::end(kAssertions), key) != std::end(kAssertions) &&
         (value == "true" || value == "false");
}

}  // namespace

Ref<Info> known_hints(const Info* given) {
  if (given == nullptr) return {};
  Info::Entries known = given->entries();
  std::erase_if(known, [](const auto& hint) { return !is_known(hint.first, hint.second); });
  return known.empty() ? Ref<Info>() : Ref<Info>::adopt(new Info(std::move(known)));
}

Info::Entries hints_in_use(const Info* known) {
  Info::Entries all;
  for (const std::string_view key : kAssertions) {
    const auto value = known == nullptr ? std::nullopt : known->get(key);
    all.emplace_back(key, value.value_or("false"));
  }
  all.emplace_back(kMemoryKindsKey, kMemoryKinds);
  return all;
}

}  // namespace starling::mpi
