// SPDX-License-Identifier: BSD-3-Clause
// Keys of creations. The mixing function is a 64-bit finaliser applied twice with different seeds: keys need
// spread, not secrecy. Layer: framework. See docs/design/startup.md.

#include "frameworks/bootstrap/group_key.hpp"

#include <algorithm>
#include <cstdio>

#include "core/expects.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  return x;
}

struct Mixer {
  Key key{0x5354524c4e472d31u, 0x67726f75702d6b65u};
  void add(std::uint64_t word) noexcept {
    key.high = mix(key.high ^ word) + 0x9e3779b97f4a7c15u;
    key.low = mix(key.low + word * 0xff51afd7ed558ccdu) ^ 0xc2b2ae3d27d4eb4fu;
  }
};

/// A process as all name it.
struct Name {
  std::uint64_t world = 0;  ///< hash of the world's name
  std::uint32_t rank = 0;
  friend auto operator<=>(const Name&, const Name&) = default;
};

/// Names processes; neighbours in a list are mostly of one world.
class Namer {
 public:
  explicit Namer(const Worlds& worlds) : worlds_(worlds) {}
  [[nodiscard]] Name of(ProcId proc) {
    if (!known_ || proc.world != world_) {
      const World* const world = worlds_.find(proc.world);
      expects(world != nullptr, "a communicator is made of processes of a world that is not known");
      hash_ = hash_of(world->name);
      world_ = proc.world;
      known_ = true;
    }
    return {hash_, proc.rank};
  }

 private:
  const Worlds& worlds_;
  bool known_ = false;
  std::uint32_t world_ = 0;
  std::uint64_t hash_ = 0;
};

void mix_run(Mixer& mixer, const Name& first, std::size_t length) {
  mixer.add(first.world);
  mixer.add(first.rank);
  mixer.add(length);
}

void mix_runs(Mixer& mixer, const std::vector<Name>& names) {
  for (std::size_t begin = 0, end = 0; begin < names.size(); begin = end) {
    while (end < names.size() && names[end].world == names[begin].world &&
           names[end].rank - names[begin].rank == end - begin)
      ++end;
    mix_run(mixer, names[begin], end - begin);
  }
}

// Members are mixed as runs of consecutive ranks, so that the key of a world takes no time of its size.
void mix_members(Mixer& mixer, const Worlds& worlds, const ProcList& members, bool in_any_order) {
  Namer namer(worlds);
  const std::uint32_t size = members.size();
  mixer.add(size);
  if (size > 0 && members.consecutive()) {
    mix_run(mixer, namer.of(members.at(0)), size);
    return;
  }
  std::vector<Name> names;
  names.reserve(size);
  for (std::uint32_t i = 0; i < size; ++i) names.push_back(namer.of(members.at(i)));
  if (in_any_order) std::sort(names.begin(), names.end());
  mix_runs(mixer, names);
}

}  // namespace

Key group_key(const Worlds& worlds, const ProcList& members, std::string_view tag) {
  Mixer mixer;
  mix_members(mixer, worlds, members, true);
  for (const char c : tag) mixer.add(static_cast<unsigned char>(c));
  mixer.add(tag.size());
  return mixer.key;
}

std::uint64_t order_of(const Worlds& worlds, const ProcList& members) {
  Mixer mixer;
  mix_members(mixer, worlds, members, false);
  return mixer.key.high ^ mixer.key.low;
}

std::string text_of(const Key& key) {
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return text;
}

Sorted::Sorted(ProcListPtr members) : members_(std::move(members)) {
  if (members_->consecutive()) return;
  const std::uint32_t size = members_->size();
  for (std::uint32_t i = 1; i < size; ++i) {
    if (members_->at(i - 1) < members_->at(i)) continue;
    order_.reserve(size);
    for (std::uint32_t j = 0; j < size; ++j) order_.push_back(members_->at(j));
    std::sort(order_.begin(), order_.end());
    return;
  }
}

std::uint32_t Sorted::position(ProcId proc) const {
  if (order_.empty()) {
    const auto index = members_->find(proc);
    expects(index.has_value(), "a process asked for its position in a group it is not in");
    return *index;
  }
  const auto found = std::lower_bound(order_.begin(), order_.end(), proc);
  expects(found != order_.end() && *found == proc,
          "a process asked for its position in a group it is not in");
  return static_cast<std::uint32_t>(found - order_.begin());
}

}  // namespace starling::bootstrap
