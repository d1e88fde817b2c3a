// SPDX-License-Identifier: BSD-3-Clause
// Cards at the process manager. A slow peer is never taken for one without addresses: it is asked again until
// the limit. Layer: framework.

#include "frameworks/bootstrap/card_client.hpp"

#include <string>

#include "core/worlds.hpp"
#include "frameworks/bootstrap/card.hpp"

namespace starling::bootstrap {
namespace {

constexpr char kKey[] = "starling-card";

}  // namespace

Result<void> CardClient::publish(const std::vector<LocalAddress>& addresses) {
  auto card = encode_card(addresses);
  if (!card) return fail(std::move(card).error());
  own_ = std::move(*card);
  return {};
}

Result<void> CardClient::expose() {
  if (exposed_ || own_.empty()) return {};
  exposed_ = true;
  return pmi_.put(kKey, own_);
}

Result<btl::Found> CardClient::card(ProcId peer) {
  using What = btl::Found::What;
  if (last_ && last_->first == peer) return btl::Found{What::address, last_->second};
  if (const auto learned = learned_.find(peer); learned != learned_.end())
    return btl::Found{What::address, learned->second};
  if (peer.world != Worlds::kOwn) {
    return fail(Errc::unreachable, "bootstrap",
                "rank " + std::to_string(peer.rank) + " belongs to world " + std::to_string(peer.world) +
                    " of this process, of which its process manager knows nothing");
  }
  Result<pmi::Lookup> found = pmi_.get(peer.rank, kKey);
  if (!found) return fail(std::move(found).error());
  if (found->found == pmi::Found::value) {
    awaited_.erase(peer);
    last_ = {peer, found->value};
    return btl::Found{What::address, std::move(found->value)};
  }
  if (found->found == pmi::Found::none) return btl::Found{What::none, {}};
  const auto awaited = awaited_.try_emplace(peer, Deadline::after_seconds(limit_seconds_)).first;
  if (!awaited->second.passed()) return btl::Found{What::not_yet, {}};
  return fail(Errc::timed_out, "bootstrap",
              "rank " + std::to_string(peer.rank) +
                  " has not published its addresses within bootstrap_timeout (" +
                  std::to_string(limit_seconds_) + " s)");
}

Result<btl::Found> CardClient::address(ProcId peer, std::string_view transport) {
  auto found = card(peer);
  if (!found || found->what != btl::Found::What::address) return found;
  auto entry = find_in_card(found->address, transport);
  if (!entry) return fail(std::move(entry).error().within("rank " + std::to_string(peer.rank)));
  if (!*entry) return btl::Found{btl::Found::What::none, {}};
  return btl::Found{btl::Found::What::address, std::move(**entry)};
}

}  // namespace starling::bootstrap
