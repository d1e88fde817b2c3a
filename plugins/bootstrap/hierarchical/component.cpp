// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/hierarchical: when an exchange is needed, and the book that it leaves. Layer: plugin. See
// docs/design/startup.md.

#include "plugins/bootstrap/hierarchical/component.hpp"

#include <algorithm>

#include "frameworks/bootstrap/card.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "frameworks/bootstrap/table.hpp"

namespace starling::bootstrap {

Hierarchical::Hierarchical(const Args& args)
    : pmi_(args.pmi),
      control_channel_(args.control_channel),
      self_(args.self),
      world_size_(args.world_size),
      nodes_(args.nodes),
      store_(args.store),
      mode_(args.params.choice<GroupMode>(kGroupMode)),
      timeout_s_(static_cast<std::uint64_t>(args.params.integer(kTimeout))),
      fence_timeout_s_(static_cast<std::uint64_t>(args.params.integer(kFenceTimeout))),
      card_client_(args.pmi, static_cast<std::uint64_t>(args.params.integer(kTimeout))),
      exchanges_(args.world_size),
      ready_(args.world_size),
      fenced_(args.world_size),
      consistency_(args.control_channel, args.settings, args.worlds,
                   [this](ProcId proc) { return reaches(proc); }),
      agreement_(args.control_channel, args.self, args.nodes, consistency_, kArity) {}

Result<ContextId> Hierarchical::create(const Creation& creation, Deadline deadline) {
  if (creation.lookup || creation.world) {
    if (auto put = card_client_.expose(); !put) return fail(std::move(put).error());
  }
  const Consistency::Call call(consistency_, creation);
  if (creation.ready || creation.world) {
    const RootsPlace place = place_among_roots(creation.members, self_, nodes_, kArity);
    std::vector<ProcId> neighbours = place.root_children;
    if (place.parent) neighbours.push_back(*place.parent);
    neighbours.insert(neighbours.end(), place.node_children.begin(), place.node_children.end());
    const auto find_failure = [&] {
      consistency_.look(call, [&] { return neighbours; });
      return consistency_.failure(call);
    };
    auto fenced = meet_first(call, deadline, find_failure);
    if (!fenced) {
      const Error error = consistency_.explain(call, std::move(fenced).error(), neighbours);
      consistency_.tell(call, error, neighbours);
      return fail(error);
    }
  }
  return creation.exchange ? exchange(call, deadline) : agreement_.agree(call, deadline);
}

Result<void> Hierarchical::meet_first(const Consistency::Call& call, Deadline deadline,
                                      const FindFailure& find_failure) {
  const Creation& creation = call.creation();
  if (creation.world) {
    if (auto met = meet_with_world(control_channel_, fenced_, deadline, find_failure); !met) return met;
    ready_.completed_world();
  }
  if (!creation.ready) return {};
  // Nobody may send to somebody who is not there: even the hello to a parent would be lost.
  const bool groups = pmi_.capabilities().group_fence;
  return meet(control_channel_, groups, ready_, creation.members, "ready " + text_of(call.key()), deadline,
              find_failure);
}

Result<ContextId> Hierarchical::exchange(const Consistency::Call& call, Deadline deadline) {
  const Creation& creation = call.creation();
  Meeting meeting{call,     place_among_roots(creation.members, self_, nodes_, kArity),
                  deadline, describe(creation),
                  {},       {},
                  false,    false};
  meeting.patience = patience_from_now();
  Result<ContextId> id = hold(meeting);
  if (!id) {
    const Error error = give_up(meeting, std::move(id).error());
    inbox_.close(call.key());
    return fail(error);
  }
  inbox_.close(call.key());
  exchanges_.completed(creation.members);
  std::erase_if(known_, [&](const auto& known) {
    return std::any_of(books_.begin(), books_.end(),
                       [&](const Book& book) { return book.card(known.first).has_value(); });
  });
  return id;
}

/// Nobody shall wait for this process any more: those below who have come end with the same error, the parent
/// hears that the table is void. What concerns all is told to all neighbours, who may have no other way to
/// learn it.
Error Hierarchical::give_up(Meeting& meeting, Error error) {
  const RootsPlace& place = meeting.place;
  std::vector<ProcId> below = place.node_children;
  below.insert(below.end(), place.root_children.begin(), place.root_children.end());
  for (const ProcId child : below) {
    if (!inbox_.has(meeting.key(), child)) continue;
    const Block block = inbox_.take(meeting.key(), child);
    learn_from(child, block);
    meeting.below[child] = block.call;
  }
  error = consistency_.explain(meeting.call, std::move(error), meeting.waited_for);
  for (const auto& [child, call] : meeting.below) consistency_.tell_end(meeting.call, error, child, call);
  if (meeting.sent_up && !consistency_.answered(meeting.call)) {
    (void)consistency_.send(*place.parent,
                            {BlockKind::withdrawn, meeting.key(), {}, 0, 1, nullptr, meeting.call.number()});
  }
  if (meeting.published) (void)pmi_.unpublish(published_name(meeting, self_));
  std::erase_if(below, [&](ProcId child) { return meeting.below.contains(child); });
  if (place.parent) {
    if (!reaches(*place.parent)) look_up_parent(meeting);
    below.push_back(*place.parent);
  }
  consistency_.tell(meeting.call, error, below);
  return error;
}

/// After a question to the process manager if need be.
bool Hierarchical::reaches(ProcId proc) {
  if (same_node(proc) || has_card(proc)) return true;
  if (card_client_.own_card().empty()) return true;  // no address is published: all are computed
  (void)card_client_.expose();                       // for the answer
  auto found = card_client_.card(proc);
  if (!found || found->what != btl::Found::What::address) return false;
  learn(proc, std::move(found->address));
  return true;
}

bool Hierarchical::same_node(ProcId peer) const { return on_one_node(nodes_, peer, self_); }

bool Hierarchical::has_card(ProcId peer) const {
  return known_.count(peer) != 0 || std::any_of(books_.begin(), books_.end(), [&](const Book& book) {
           return book.card(peer).has_value();
         });
}

void Hierarchical::learn_from(ProcId sender, const Block& block) {
  if (block.bytes == nullptr) return;
  if (auto card = card_in(*block.bytes, sender); !card.empty()) learn(sender, std::move(card));
}

void Hierarchical::on_block(ProcId from, Block block) noexcept {
  if (consistency_.take(from, block)) return;
  if (block.kind == BlockKind::withdrawn) return inbox_.withdraw(block.key, from, block.call);
  if (block.kind != BlockKind::up) {
    if (consistency_.under_way(block.key, block.call)) inbox_.put(from, std::move(block));
    return;
  }
  // Who comes after its end would wait in vain, and who does not fit shall be asked: both need an answer.
  if (consistency_.ended(block.key) || consistency_.differ(block.settings)) learn_from(from, block);
  if (!consistency_.refused(from, block.key, block.call)) inbox_.put(from, std::move(block));
}

void Hierarchical::learn(ProcId peer, std::vector<std::byte> card) { known_[peer] = std::move(card); }

Result<btl::Found> Hierarchical::address(ProcId peer, std::string_view transport) {
  std::optional<std::span<const std::byte>> card;
  if (const auto known = known_.find(peer); known != known_.end()) card = known->second;
  for (auto book = books_.rbegin(); !card && book != books_.rend(); ++book) card = book->card(peer);
  if (!card) return card_client_.address(peer, transport);
  auto entry = find_in_card(*card, transport);
  if (!entry) return fail(std::move(entry).error().within("rank " + std::to_string(peer.rank)));
  if (!*entry) return btl::Found{btl::Found::What::none, {}};
  return btl::Found{btl::Found::What::address, std::move(**entry)};
}

}  // namespace starling::bootstrap
