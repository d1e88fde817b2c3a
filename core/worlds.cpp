// SPDX-License-Identifier: BSD-3-Clause
// Layer: core. See docs/design/worlds.md.

#include "core/worlds.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace starling {
namespace {

constexpr std::uint32_t kPlaceBits = 16;
static_assert(Worlds::kPlacesMax == 1u << kPlaceBits);

/// FNV-1a, 64 bits, over the length first: two texts one after the other are not one.
std::uint64_t mix(std::uint64_t hash, std::string_view text) noexcept {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  hash = (hash ^ text.size()) * kPrime;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * kPrime;
  return hash;
}

/// All bits of the result depend on all of the argument's.
std::uint64_t scatter(std::uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 31)) * 0x7fb5d329728ea185;
  bits = (bits ^ (bits >> 27)) * 0x81dadef4bc2dd44d;
  return bits ^ (bits >> 33);
}

}  // namespace

std::uint64_t hash_of(const WorldName& name) noexcept {
  return scatter(mix(mix(scatter(name.nonce + 0x9e3779b97f4a7c15), name.manager), name.job));
}

Worlds::Worlds(World own) { places_.push_back({std::make_unique<Entry>(Entry{std::move(own)})}); }

Worlds::Entry* Worlds::entry(std::uint32_t world) const noexcept {
  const std::uint32_t place = place_of(world);
  if (place >= places_.size() || places_[place].uses != world >> kPlaceBits) return nullptr;
  return places_[place].entry.get();
}

const World* Worlds::find(std::uint32_t world) const noexcept {
  const Entry* const found = entry(world);
  return found == nullptr ? nullptr : &found->world;
}

std::optional<std::uint32_t> Worlds::find(const WorldName& name) const noexcept {
  for (std::uint32_t at = 0; at < places_.size(); ++at) {
    const Place& place = places_[at];
    if (place.entry != nullptr && place.entry->world.name == name) return place.uses << kPlaceBits | at;
  }
  return std::nullopt;
}

Result<std::uint32_t> Worlds::add(World world) {
  if (const auto known = find(world.name)) {
    Entry& old = *entry(*known);
    if (old.world.size != world.size) {
      return fail(Errc::bad_input, "world " + world.name.text(),
                  "it is said to have " + std::to_string(world.size) + " processes, and is known to have " +
                      std::to_string(old.world.size));
    }
    ++old.users;
    return *known;
  }
  if (free_.empty() && places_.size() == kPlacesMax) {
    return fail(Errc::no_space, "world " + world.name.text(),
                "this process knows " + std::to_string(known_) + " worlds, and has no index for one more");
  }
  if (free_.empty()) {
    places_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(places_.size()) - 1);
  }
  const std::uint32_t at = free_.front();
  places_[at].entry = std::make_unique<Entry>(Entry{std::move(world)});
  free_.pop_front();
  ++known_;
  return places_[at].uses << kPlaceBits | at;
}

bool Worlds::release(std::uint32_t world) noexcept {
  Entry* const found = entry(world);
  expects(found != nullptr, "a world is released that is not known");
  if (world == kOwn) return false;
  if (--found->users != 0) return false;
  Place& place = places_[place_of(world)];
  place.entry.reset();
  --known_;
  // A place whose uses are at an end stays empty: no index is given twice.
  if (++place.uses < kUsesMax) free_.push_back(place_of(world));
  return true;
}

std::string Worlds::text(ProcId proc) const {
  std::string text = "rank " + std::to_string(proc.rank);
  if (proc.world == kOwn) return text;
  const World* const world = find(proc.world);
  return text + (world == nullptr ? " of a world that has gone" : " of world " + world->name.text());
}

std::string text_of(ProcId proc) {
  std::string text = "rank " + std::to_string(proc.rank);
  if (proc.world != Worlds::kOwn) text += " of the world with index " + std::to_string(proc.world);
  return text;
}

bool is_within_world(const ProcList& members, std::uint32_t world) noexcept {
  const std::uint32_t looks = members.consecutive() ? std::min(members.size(), 1u) : members.size();
  for (std::uint32_t index = 0; index < looks; ++index) {
    if (members.at(index).world != world) return false;
  }
  return true;
}

bool is_whole_world(const ProcList& members, std::uint32_t world, std::uint32_t size) noexcept {
  return members.size() == size && is_within_world(members, world);
}

}  // namespace starling
