// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The ids of one communicator: one for each world that it has members of. Layer: core.
///
/// A ContextId is unique in one world only, and two worlds that meet have counted alike. So each world calls
/// a communicator by an id of its own, and a message carries the id that its receiver uses. See
/// docs/design/worlds.md.
///
/// Threads: value type.
/// Errors:  a world without an id is a bug of whoever has made the communicator.

#include <utility>
#include <vector>

#include "core/expects.hpp"
#include "core/ids.hpp"

namespace starling {

class ContextIds {
 public:
  /// Of a communicator whose members are all of the own world.
  ContextIds(ContextId own) noexcept : own_(own) {}  // NOLINT: nearly all communicators are such ones

  /// How the processes of another world call it. A world is entered once, under this process's index of it.
  void add(std::uint32_t world, ContextId id) {
    expects(world != 0, "the own world has its id");
    others_.emplace_back(world, id);
  }
  [[nodiscard]] ContextId own() const noexcept { return own_; }
  [[nodiscard]] ContextId of(std::uint32_t world) const noexcept {
    if (world == 0) return own_;
    for (const auto& [other, id] : others_) {
      if (other == world) return id;
    }
    expects(false, "a communicator has a member of a world whose id for it is not known");
    return own_;
  }
  /// The ids of another channel of the same communicator.
  [[nodiscard]] ContextIds on(Channel channel) const {
    ContextIds ids(own_.on(channel));
    for (const auto& [world, id] : others_) ids.others_.emplace_back(world, id.on(channel));
    return ids;
  }

 private:
  ContextId own_;
  std::vector<std::pair<std::uint32_t, ContextId>> others_;
};

}  // namespace starling
