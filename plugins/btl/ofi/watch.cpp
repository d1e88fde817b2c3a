// SPDX-License-Identifier: BSD-3-Clause
// Peers that nothing leads to. What is hard: libfabric answers alike for a peer that is busy, one that is
// dead and one behind a firewall, and does not tell of a connection that broke while nothing went out.
// Layer: plugin.
// Design: docs/design/network.md, "Silence".

#include <unordered_set>

#include "core/clock.hpp"
#include "plugins/btl/ofi/component.hpp"

namespace starling::btl {
namespace {

constexpr std::uint64_t kAskAfterNs = 1'000'000'000;     // of refusals only
constexpr std::uint64_t kAskFirstAfterNs = 300'000'000;  // as above, while a connection is made
constexpr std::uint64_t kAskLeftAfterNs = 20'000'000;    // of one that has said that it leaves
constexpr std::uint64_t kLookEveryNs = 100'000'000;      // at links with gets
constexpr std::uint64_t kScanEveryNs = 1'000'000'000;    // what the kernel knows

}  // namespace

void OfiEndpoint::end(Errc code, std::string why) noexcept {
  component_.gets_.on_link_lost();
  remote_.lose(may_live_);
  lose(code, std::move(why));
}

void OfiEndpoint::end(std::string why) noexcept {
  end(component_.ends_.code_of(peer().rank), std::move(why));
}

bool OfiEndpoint::had_connection() const noexcept {
  return connected_ || component_.arrivals_.heard_of(peer().rank);
}

void OfiEndpoint::broke(bool sure) noexcept {
  if (lost()) return;
  auto verdict = component_.ends_.after_break(component_.way_to(*this), had_connection());
  if (sure || verdict.sure) end(verdict.code, std::move(verdict.text));
}

void OfiEndpoint::look_after(std::uint64_t now) noexcept {
  if (lost()) return;
  // Where nobody can be asked, a peer that does not serve may be one that only computes.
  const bool still = component_.over_tcp_ && under_way() && now > last_move_ns_ + kAskAfterNs;
  const std::uint64_t silent = net::silence(component_.connections_, name_);
  if (refused_since_ns_ == 0 && !still && silent == 0) return doubt_.settle();
  const bool had = had_connection();
  if (refused_since_ns_ != 0) {
    const bool left = component_.arrivals_.end_of(peer().rank) == Errc::peer_left;
    doubt_.begin(refused_since_ns_, refused_since_ns_ + (left  ? kAskLeftAfterNs
                                                         : had ? kAskAfterNs
                                                               : kAskFirstAfterNs));
  } else {
    doubt_.begin(silent != 0 ? now - silent : last_move_ns_, now);
  }
  const std::uint64_t limit = had ? component_.patience_.connected_ns : component_.patience_.connecting_ns;
  const auto port = component_.over_tcp_ ? std::span<const std::byte>(name_) : std::span<const std::byte>();
  switch (doubt_.look(now, port, limit)) {
    case net::Doubt::Verdict::open: return;
    case net::Doubt::Verdict::refused:
      // A computed address may be used before its owner has started.
      if (component_.computed_ && !had) return;
      // Only new connections are refused: the peer computes.
      if (had && silent == 0 && net::leads_to(component_.scan(), name_)) return;
      return end(net::no_connection(component_.way_to(*this), had,
                                    had ? "it broke, and a new one is refused" : "it was refused"));
    case net::Doubt::Verdict::unanswered: break;
  }
  may_live_ = true;
  end(net::no_connection(component_.way_to(*this), had,
                         "nothing was answered for " + std::to_string(doubt_.seconds(now)) +
                             " s (parameters btl_ofi_peer_timeout, bootstrap_timeout)"));
}

net::Way OfiComponent::way_to(const OfiEndpoint& link) const noexcept {
  return {link.peer(), link.place_, place_,
          over_tcp_ ? std::span<const std::byte>(link.name_) : std::span<const std::byte>()};
}

/// Rarely: it reads the clock.
void OfiComponent::look_after_waiting() noexcept {
  constexpr std::uint32_t kPasses = 64;
  if (++waiting_passes_ % kPasses != 0) return;
  const std::uint64_t now = now_ns();
  for (net::Link* link : links_.busy) static_cast<OfiEndpoint*>(link)->look_after(now);
  if ((!gets_.moving() && accesses_.out() == 0 && !access_refused_) || now < looked_ns_ + kLookEveryNs)
    return;
  looked_ns_ = now;
  for (const auto& [rank, link] : endpoints_) link->look_after(now);
}

std::vector<net::Connection> OfiComponent::scan() const {
  std::unordered_set<std::uint16_t> ports;
  for (const auto& [rank, link] : endpoints_) ports.insert(net::far_end(link->name_).port);
  return net::connections(fabric_.ports(),
                          [&](const net::FarEnd& end) { return ports.count(end.port) != 0; });
}

/// libfabric does not tell of a connection that breaks while nothing goes out. Of an accepted one only the
/// host is known, so nothing is concluded while another process of that host has one.
void OfiEndpoint::look_for_connection() noexcept {
  constexpr std::uint8_t kScans = 2;  // a new one may be under way
  if (lost() || !had_connection()) return;
  if (net::leads_to(component_.connections_, name_)) {
    seen_ = true;
    missing_ = 0;
  } else if (missing_ < kScans && ++missing_ == kScans) {
    broke(seen_);
  }
}

void OfiComponent::watch(std::uint64_t now) noexcept {
  ends_.look(endpoints_, links_, "btl/ofi");
  if (!over_tcp_ || now < scanned_ns_ + kScanEveryNs) return;
  scanned_ns_ = now;
  connections_ = scan();
  for (const auto& [rank, link] : endpoints_) {
    link->look_for_connection();
    link->look_after(now);
  }
}

}  // namespace starling::btl
