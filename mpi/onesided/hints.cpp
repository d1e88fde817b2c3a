// SPDX-License-Identifier: BSD-3-Clause
// The hints that windows know. Layer: mpi. MPI 5.0 sections 12.2.1, 12.2.3.

#include "mpi/onesided/hints.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "mpi.h"

namespace starling::mpi {
namespace {

struct Known {
  std::string_view key;
  std::string_view usual;
};
constexpr std::string_view kNoncontiguous = "alloc_shared_noncontig";
constexpr std::string_view kAlignment = "mpi_minimum_memory_alignment";
constexpr Known kHints[] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"mpi_accumulate_granularity", "0"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {kNoncontiguous, "false"},
};
constexpr std::uint64_t kMostAlignment = 4096;

}  // namespace

Ref<Info> known_window_hints(const Info* given) {
  if (given == nullptr) return {};
  Info::Entries known = given->entries();
  std::erase_if(known, [](const auto& hint) {
    return std::none_of(std::begin(kHints), std::end(kHints),
                        [&](const Known& one) { return one.key == hint.first; });
  });
  return known.empty() ? Ref<Info>() : Ref<Info>::adopt(new Info(std::move(known)));
}

Info::Entries window_hints_in_use(const Info* known, int flavor) {
  Info::Entries all;
  for (const Known& hint : kHints) {
    if (hint.key == kNoncontiguous && flavor != MPI_WIN_FLAVOR_SHARED) continue;
    const auto value = known == nullptr ? std::nullopt : known->get(hint.key);
    all.emplace_back(hint.key, value.value_or(std::string(hint.usual)));
  }
  return all;
}

bool wants_noncontiguous(const Info* given) {
  return given != nullptr && given->get(kNoncontiguous) == "true";
}

bool wants_no_locks(const Info* given) { return given != nullptr && given->get("no_locks") == "true"; }

std::uint64_t wanted_alignment(const Info* given) {
  const auto text = given == nullptr ? std::nullopt : given->get(kAlignment);
  std::uint64_t bytes = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), bytes).ec != std::errc{}) return 1;
  const bool power = bytes != 0 && (bytes & (bytes - 1)) == 0;
  return power && bytes <= kMostAlignment ? bytes : 1;
}

}  // namespace starling::mpi
