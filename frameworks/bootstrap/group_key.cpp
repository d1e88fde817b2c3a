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

std::uint64_t word_of(ProcId proc) { return (std::uint64_t{proc.world} << 32) | proc.rank; }

std::vector<std::uint64_t> words_of(const ProcList& members) {
  std::vector<std::uint64_t> words;
  words.reserve(members.size());
  for (std::uint32_t i = 0; i < members.size(); ++i) words.push_back(word_of(members.at(i)));
  return words;
}

void mix_runs(Mixer& mixer, const std::vector<std::uint64_t>& words) {
  for (std::size_t begin = 0, end = 0; begin < words.size(); begin = end) {
    while (end < words.size() && words[end] - words[begin] == end - begin) ++end;
    mixer.add(words[begin]);
    mixer.add(end - begin);
  }
}

// Members are mixed as runs of consecutive ranks, so that the key of a world takes no time of its size.
void mix_members(Mixer& mixer, const ProcList& members, bool in_any_order) {
  const std::uint32_t size = members.size();
  mixer.add(size);
  if (size > 0 && members.consecutive()) {
    mixer.add(word_of(members.at(0)));
    mixer.add(size);
    return;
  }
  std::vector<std::uint64_t> words = words_of(members);
  if (in_any_order) std::sort(words.begin(), words.end());
  mix_runs(mixer, words);
}

}  // namespace

Key group_key(const ProcList& members, std::string_view tag) {
  Mixer mixer;
  mix_members(mixer, members, true);
  for (const char c : tag) mixer.add(static_cast<unsigned char>(c));
  mixer.add(tag.size());
  return mixer.key;
}

std::uint64_t order_of(const ProcList& members) {
  Mixer mixer;
  mix_members(mixer, members, false);
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
