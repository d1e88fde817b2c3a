// SPDX-License-Identifier: BSD-3-Clause
// Peers that nothing leads to, over tcp. What is hard: UCX waits alike for a peer that computes and for one
// behind a firewall that drops, and its error handler does not say what broke. Layer: plugin.
// Design: docs/design/network.md, "Silence".

#include <unordered_set>

#include "core/clock.hpp"
#include "plugins/btl/ucx/component.hpp"

namespace starling::btl {
namespace {

constexpr std::uint64_t kWatchEveryNs = 100'000'000;
constexpr std::uint64_t kLookEveryNs = 1'000'000'000;  // at what the kernel knows
constexpr std::uint64_t kLastWordsNs = 20'000'000;     // what a peer said before its end may take so long
constexpr std::uint64_t kFirstAskNs = 300'000'000;     // a connection is made in less

}  // namespace

void UcxEndpoint::give_up(Errc code, std::string why) noexcept {
  component_.gets_.on_link_lost();
  lose(code, std::move(why));
}

void UcxEndpoint::give_up(std::string why) noexcept {
  give_up(component_.ends_.code_of(peer().rank), std::move(why));
}

void UcxEndpoint::died(std::string why) noexcept {
  component_.retire(*this);
  give_up(Errc::peer_lost, std::move(why));
}

/// A frame that was accepted found a connection.
bool UcxEndpoint::had_connection() noexcept {
  const bool used = last_use() != 0 && idle();
  const bool first_heard_of = !reopened_ && component_.arrivals_.heard_of(peer().rank);
  had_connection_ = had_connection_ || used || first_heard_of;
  return had_connection_;
}

void UcxEndpoint::look_after(std::uint64_t now, std::span<const net::Connection> silent) noexcept {
  if (lost() || port_.empty()) return;
  const bool had = had_connection();
  const std::uint64_t since = net::silence(silent, port_);
  if (had ? since == 0 : idle()) return doubt_.settle();
  doubt_.begin(now - since, now + (had ? 0 : kFirstAskNs));
  const std::uint64_t limit = had ? component_.patience_.connected_ns : component_.patience_.connecting_ns;
  const auto verdict = doubt_.look(now, port_, limit);
  if (verdict == net::Doubt::Verdict::open) return;
  const std::string how = verdict == net::Doubt::Verdict::refused
                              ? std::string(had ? "new ones are refused" : "it was refused")
                              : "nothing was answered for " + std::to_string(doubt_.seconds(now)) +
                                    " s (parameters btl_ucx_peer_timeout, bootstrap_timeout)";
  component_.retire(*this);
  give_up(net::no_connection(way(), had, how));
}

void UcxComponent::watch(std::uint64_t now) noexcept {
  ends_.look(endpoints_, links_, "btl/ucx");
  if (!over_tcp_ || now < watched_ns_ + kWatchEveryNs) return;
  watched_ns_ = now;
  if (now >= looked_ns_ + kLookEveryNs) {
    looked_ns_ = now;
    std::unordered_set<std::uint16_t> ports;
    for (const auto& [rank, link] : endpoints_) ports.insert(net::far_end(link->port_).port);
    silent_ =
        net::connections(worker_.ports(), [&](const net::FarEnd& end) { return ports.count(end.port) != 0; });
    std::erase_if(silent_, [](const net::Connection& connection) { return connection.silent_ns == 0; });
  }
  for (const auto& [rank, link] : endpoints_) link->look_after(now, silent_);
}

void UcxComponent::on_error(void* link, ucp_ep_h ep, ucs_status_t) noexcept {
  auto& lost = *static_cast<UcxEndpoint*>(link);
  if (ep != lost.ep_) return;  // one that was closed before; its end says nothing about its successor
  UcxComponent& self = lost.component_;
  self.retire(lost);
  ++self.events_;
  // Closed before: the other side was first to close, or it is looked into already.
  if (lost.stage_ == UcxEndpoint::Stage::agreed || lost.broke_at_ns_ != 0 || lost.lost()) return;
  lost.broke_at_ns_ = now_ns();
  lost.hold_back(true);
  self.broken_.push_back(&lost);
}

/// What became of peers whose connection broke. The last word of one that has left may lie unread in the
/// other of two connections, which crossing first messages have made: so the rest is read first.
void UcxComponent::settle_broken(std::uint64_t now) noexcept {
  for (std::size_t i = 0; i < broken_.size();) {
    UcxEndpoint& link = *broken_[i];
    const std::uint32_t rank = link.peer().rank;
    const bool known = link.lost() || arrivals_.end_of(rank) == Errc::peer_left;
    if (!known && !idle_ && now < link.broke_at_ns_ + kLastWordsNs) {
      ++i;
      continue;
    }
    broken_[i] = broken_.back();
    broken_.pop_back();
    ++events_;
    if (!known && idle_) {
      link.give_up(Errc::peer_left, "its connection broke when this process had left MPI");
    } else if (!link.lost()) {
      auto verdict = ends_.after_break(link.way(), link.had_connection_ || arrivals_.heard_of(rank));
      link.give_up(verdict.code, std::move(verdict.text));
    }
  }
}

}  // namespace starling::btl
