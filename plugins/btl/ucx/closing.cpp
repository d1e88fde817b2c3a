// SPDX-License-Identifier: BSD-3-Clause
// Idle connections beyond a cap. What is hard: both sides must be sure that nothing is on its way before
// either closes, and both may ask at once. Layer: plugin. Design: docs/design/network.md.

#include <algorithm>
#include <utility>

#include "plugins/btl/ucx/component.hpp"

namespace starling::btl {
namespace {

constexpr std::uint32_t kPasses = 64;  // between two looks for idle links

}  // namespace

/// Asks the peer of the link that was used longest ago. Peers that have never sent anything may have no link
/// to answer by.
void UcxComponent::ask_the_idlest() noexcept {
  if (++passes_ % kPasses != 0 || confirm_ || open_ - closing_.size() <= connections_max_) return;
  UcxEndpoint* idlest = nullptr;
  for (const auto& [rank, link] : endpoints_) {
    const bool idle = link->ep_ != nullptr && link->stage_ == UcxEndpoint::Stage::open && link->idle() &&
                      !link->needs_connection() && !link->lost();
    if (!idle || !arrivals_.heard_of(rank)) continue;
    if (idlest == nullptr || link->last_use() < idlest->last_use()) idlest = link.get();
  }
  if (idlest == nullptr) return;
  idlest->send_empty_frame(net::FrameKind::ask_close);
  idlest->stage_ = UcxEndpoint::Stage::asking;
  idlest->hold_back(true);
  closing_.push_back(idlest);
}

void UcxComponent::on_closing(net::Arrivals::Closing closing) noexcept {
  using Kind = net::FrameKind;
  using Stage = UcxEndpoint::Stage;
  const auto found = endpoints_.find(closing.rank);
  if (found == endpoints_.end() || found->second->lost()) return;
  UcxEndpoint& link = *found->second;
  if (closing.kind == Kind::refuse_close && link.stage_ == Stage::asking) {
    link.stage_ = Stage::open;
    link.hold_back(false);
    std::erase(closing_, &link);
  } else if (link.stage_ == Stage::asking) {
    agree_on_closing(link);  // the answer, or a question that crossed ours: nothing follows either way
  } else if (closing.kind == Kind::ask_close && link.stage_ == Stage::open) {
    const bool idle = link.idle() && !link.needs_connection();
    link.send_empty_frame(idle ? Kind::agree_close : Kind::refuse_close);
    if (!idle) return;
    closing_.push_back(&link);
    link.hold_back(true);
    agree_on_closing(link);
  } else if (closing.kind == Kind::ask_close && link.stage_ == Stage::agreed) {
    link.asked_again_ = true;  // over its next connection; this end of the last is still open
  }
}

void UcxComponent::agree_on_closing(UcxEndpoint& link) noexcept { link.stage_ = UcxEndpoint::Stage::agreed; }

/// Closes those that were agreed upon as soon as the peer has confirmed our last frame.
void UcxComponent::close_idle() noexcept {
  for (std::size_t i = 0; i < closing_.size();) {
    UcxEndpoint& link = *closing_[i];
    if (link.stage_ == UcxEndpoint::Stage::agreed && link.ep_ != nullptr) link.start_flush();
    const bool silent = link.posted() == 0 && !link.unconfirmed() && !link.flushing_;
    const bool ended = link.lost() || (link.stage_ == UcxEndpoint::Stage::agreed &&
                                       (link.ep_ == nullptr ? link.posted() == 0 : silent));
    if (!ended) {
      ++i;
      continue;
    }
    retire(link);
    link.unconfirmed_ = false;
    link.stage_ = UcxEndpoint::Stage::open;
    link.hold_back(false);
    if (std::exchange(link.asked_again_, false) && !link.lost())
      link.send_empty_frame(net::FrameKind::refuse_close);
    closing_[i] = closing_.back();
    closing_.pop_back();
    ++events_;
  }
}

}  // namespace starling::btl
