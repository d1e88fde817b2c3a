// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Component::set_idle of the network btls. Layer: framework, for the network btls.
///
/// Who leaves says so over each of its connections; whoever then sees one break knows that nothing is lost.
///
/// Threads: as btl::Component.

#include <algorithm>

#include "core/clock.hpp"
#include "frameworks/btl/net/arrivals.hpp"
#include "frameworks/btl/net/link.hpp"

namespace starling::btl::net {

/// Tells the peers of `links` (by rank) whether this process is idle, and progresses until that has left, for
/// a second at most: one that takes nothing cannot be told. Only connections that messages have used in
/// either direction, and no peer that has left itself. A plugin's link has connected(): whether a frame would
/// find a connection; and gone(): whether what was posted has left this process. `progress` returns how many
/// events it has found.
template <class LinksByRank, class Progress>
void tell_idle(const LinksByRank& links, Arrivals& arrivals, bool idle, Progress progress) noexcept {
  constexpr std::uint64_t kLimitNs = 1'000'000'000;
  // Who has ended meanwhile has said so: heard first, it is not called lost when the connection breaks.
  for (int quiet = 0; !idle && quiet < 2;) quiet = progress() != 0 ? 0 : quiet + 1;
  const auto listens = [&](std::uint32_t rank) { return !arrivals.says_left(rank); };
  for (const auto& [rank, link] : links) {
    const bool used = link->last_use() != 0 || arrivals.heard_of(rank);
    if (!used || !link->connected() || (idle && !listens(rank))) continue;
    if (!idle && link->told_idle()) arrivals.came_back_to(rank);
    link->tell_idle(idle);
  }
  const auto gone = [&](const auto& item) {
    return !item.second->told_idle() || item.second->lost() || !listens(item.first) || item.second->gone();
  };
  const Deadline deadline = Deadline::after_ns(kLimitNs);
  while (idle && !std::all_of(links.begin(), links.end(), gone) && !deadline.passed()) progress();
}

}  // namespace starling::btl::net
