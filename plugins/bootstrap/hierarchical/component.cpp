// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/hierarchical: when an exchange is needed, and the book that it leaves. Layer: plugin. See
// docs/design/startup.md.

#include "plugins/bootstrap/hierarchical/component.hpp"

#include <algorithm>

#include "frameworks/bootstrap/card.hpp"
#include "frameworks/bootstrap/params.hpp"

namespace starling::bootstrap {

Hierarchical::Hierarchical(const Args& args)
    : pmi_(args.pmi),
      courier_(args.courier),
      self_(args.self),
      world_size_(args.world_size),
      nodes_(args.nodes),
      store_(args.store),
      mode_(args.params.choice<GroupMode>(kGroupMode)),
      desk_(args.pmi, static_cast<std::uint64_t>(args.params.integer(kTimeout))),
      exchanges_(args.world_size),
      ready_(args.world_size),
      fenced_(args.world_size),
      agreement_(args.courier, args.self, args.nodes, kArity) {}

Result<ContextId> Hierarchical::create(const Creation& creation, Deadline deadline) {
  if (creation.lookup) {
    if (auto put = desk_.expose(); !put) return fail(std::move(put).error());
  }
  if (!creation.ready && !creation.exchange) return agreement_.agree(creation, deadline);
  const Key group = group_key(*creation.members, creation.tag + " exchange");
  const Key key = creation_key(group, epochs_[group]++);
  if (creation.ready) {
    // Nobody may send to somebody who is not there: even the hello to a parent would be lost.
    const bool groups = pmi_.capabilities().group_fence;
    auto fenced = meet(courier_, groups, ready_, creation.members, "ready " + text_of(key), deadline);
    if (!fenced) return fail(std::move(fenced).error());
  }
  return creation.exchange ? exchange(creation, key, deadline) : agreement_.agree(creation, deadline);
}

Result<ContextId> Hierarchical::exchange(const Creation& creation, const Key& key, Deadline deadline) {
  const Meeting meeting{creation, key, place_among_roots(creation.members, self_, nodes_, kArity), deadline,
                        "creation of a communicator of " + std::to_string(creation.members->size()) +
                            " processes with tag '" + creation.tag + "'"};
  Result<ContextId> id = hold(meeting);
  std::optional<ProcId> dead;
  if (!id && id.error().code == Errc::peer_lost) dead = dead_in(meeting);
  if (dead) pass_on_death(meeting, *dead);
  inbox_.close(meeting.key, !id, dead);
  if (!id) return id;
  exchanges_.completed(creation.members);
  std::erase_if(known_, [&](const auto& known) {
    return std::any_of(books_.begin(), books_.end(),
                       [&](const Book& book) { return book.card(known.first).has_value(); });
  });
  return id;
}

bool Hierarchical::has_card(ProcId peer) const {
  return known_.count(peer) != 0 || std::any_of(books_.begin(), books_.end(), [&](const Book& book) {
           return book.card(peer).has_value();
         });
}

void Hierarchical::learn_from(ProcId sender, const Block& block) {
  if (block.bytes == nullptr) return;
  const auto table = Table::open(*block.bytes);
  const auto card = table ? table->card(sender) : std::nullopt;
  if (card) learn(sender, {card->begin(), card->end()});
}

void Hierarchical::on_block(ProcId from, Block block) noexcept {
  // Who comes after the death has ended the creation here would wait in vain.
  const auto dead = block.kind == BlockKind::up ? inbox_.ended_by(block.key) : std::nullopt;
  if (!dead) return inbox_.put(from, std::move(block));
  learn_from(from, block);
  (void)courier_.send_block(from, {BlockKind::failed, block.key, ContextId{dead->rank}, 0, 1, nullptr});
}

void Hierarchical::learn(ProcId peer, std::vector<std::byte> card) { known_[peer] = std::move(card); }

Result<btl::Found> Hierarchical::address(ProcId peer, std::string_view transport) {
  std::optional<std::span<const std::byte>> card;
  if (const auto known = known_.find(peer); known != known_.end()) card = known->second;
  for (auto book = books_.rbegin(); !card && book != books_.rend(); ++book) card = book->card(peer);
  if (!card) return desk_.address(peer, transport);
  auto entry = find_in_card(*card, transport);
  if (!entry) return fail(std::move(entry).error().within("rank " + std::to_string(peer.rank)));
  if (!*entry) return btl::Found{btl::Found::What::none, {}};
  return btl::Found{btl::Found::What::address, std::move(**entry)};
}

}  // namespace starling::bootstrap
