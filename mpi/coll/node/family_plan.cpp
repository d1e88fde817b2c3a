// SPDX-License-Identifier: BSD-3-Clause
// Cutting the members of a board into families. Layer: mpi. docs/design/node-collectives.md

#include "mpi/coll/node/family_plan.hpp"

#include <algorithm>
#include <optional>

namespace starling::mpi::coll::node {
namespace {

/// Where the domain changes at this level, and 0; nothing unless all members have a domain and they differ.
std::optional<std::vector<std::uint32_t>> borders(std::span<const Domains> members, std::size_t level) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t member = 0; member < members.size(); ++member) {
    if (members[member][level] < 0) return std::nullopt;
    if (member == 0 || members[member][level] != members[member - 1][level]) result.push_back(member);
  }
  if (result.size() < 2) return std::nullopt;
  return result;
}

constexpr std::uint32_t families_in(std::uint32_t members, std::uint32_t family) noexcept {
  return (members + family - 1) / family;
}

}  // namespace

FamilyPlan::FamilyPlan(std::uint32_t size, std::uint32_t family) {
  for (std::uint32_t begin = 0; begin < size; begin += family) add(begin, std::min(begin + family, size));
}

FamilyPlan::FamilyPlan(std::span<const Domains> members, std::uint32_t family) {
  const auto size = static_cast<std::uint32_t>(members.size());
  for (std::size_t level = 0; level < std::tuple_size_v<Domains>; ++level) {
    auto found = borders(members, level);
    // Member 0 reads all heads: with more than twice as many it would wait longer than the borders cost.
    if (!found || found->size() > 2 * families_in(size, family)) continue;
    found->push_back(size);
    for (std::size_t i = 0; i + 1 < found->size(); ++i) {
      const std::uint32_t begin = (*found)[i], count = (*found)[i + 1] - begin;
      const std::uint32_t parts = families_in(count, family);
      for (std::uint32_t part = 0; part < parts; ++part)
        add(begin + count * part / parts, begin + count * (part + 1) / parts);
    }
    return;
  }
  *this = FamilyPlan(size, family);
}

void FamilyPlan::add(std::uint32_t begin, std::uint32_t end) {
  heads_.push_back(begin);
  head_.insert(head_.end(), end - begin, begin);
  end_.insert(end_.end(), end - begin, end);
}

}  // namespace starling::mpi::coll::node
