// SPDX-License-Identifier: BSD-3-Clause
// One exchange: cards go up, the table and the context id go down. What is hard: nobody but its parent can be
// reached by a root at first, and a parent can answer a child only once it has the child's card. With
// threads, some members may find the group covered by an exchange that others have not ended yet: so all send
// the same messages, covered or not; who is not says so, and then the table goes down; and whoever looks for
// its parent at the process manager stops when the group is covered after all. Layer: plugin. See
// docs/design/startup.md.

#include <algorithm>
#include <string>

#include "core/worlds.hpp"
#include "frameworks/bootstrap/members.hpp"
#include "frameworks/pmi/value.hpp"
#include "plugins/bootstrap/hierarchical/component.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::uint64_t kFirstPauseNs = 1'000'000, kLongestPauseNs = 20'000'000;
/// What a root passes on at once. A power of two of bytes wastes nothing of the node's segment.
constexpr std::size_t kChunkBytes = 64 * 1024;

}  // namespace

FindFailure Hierarchical::failure_of(const Meeting& meeting, std::function<std::vector<ProcId>()> missing) {
  return [this, &meeting, missing = std::move(missing)] {
    consistency_.look(meeting.call, missing);
    return meeting.sent_up ? consistency_.failure_before_result(meeting.call, *meeting.place.parent)
                           : consistency_.failure(meeting.call);
  };
}

Result<void> Hierarchical::wait_for(Meeting& meeting, const std::vector<ProcId>& senders) {
  const auto missing = [&] {
    std::vector<ProcId> procs = senders;
    std::erase_if(procs, [&](ProcId sender) { return inbox_.has(meeting.key(), sender); });
    return procs;
  };
  const auto text = [&] {
    std::string ranks;
    for (const ProcId sender : missing()) ranks += (ranks.empty() ? "" : ", ") + std::to_string(sender.rank);
    return "waits for rank(s) " + ranks + " or members that join through them";
  };
  const auto all_there = [&] {
    return std::all_of(senders.begin(), senders.end(),
                       [&](ProcId sender) { return inbox_.has(meeting.key(), sender); });
  };
  const auto what = [&] { return meeting.name + ": " + text(); };
  const FindFailure find_failure = failure_of(meeting, missing);
  const bool may_come_otherwise = may_lose_fence(meeting);
  auto waited = wait_while_possible(control_channel_, find_failure, all_there,
                                    may_come_otherwise ? meeting.patience : meeting.deadline, what);
  if (may_come_otherwise && !waited && waited.error().code == Errc::timed_out) {
    if (auto gone = go_another_way(meeting, find_failure, all_there); !gone) return gone;
    waited = wait_while_possible(control_channel_, find_failure, all_there, meeting.deadline, what);
  }
  if (waited) return waited;
  meeting.waited_for = missing();
  if (waited.error().code != Errc::timed_out) return waited;
  const std::string hint = waited.error().detail.empty() ? "" : "\n  " + waited.error().detail;
  return fail(Errc::timed_out, meeting.name,
              "gave up (parameter bootstrap_timeout): " + text() +
                  "; every member of the group must make the same call" + hint);
}

/// What this process and all below it have.
Result<Hierarchical::Gathered> Hierarchical::gather(Meeting& meeting) {
  std::vector<ProcId> senders = meeting.place.node_children;
  senders.insert(senders.end(), meeting.place.root_children.begin(), meeting.place.root_children.end());
  if (auto there = wait_for(meeting, senders); !there) return fail(std::move(there).error());
  if (auto fits = consistency_.fits(meeting.call); !fits) return fail(std::move(fits).error());
  Gathered all{{{self_, card_client_.own_card()}}, {!covered(meeting), meeting.call.orders()}};
  for (const ProcId sender : senders) {
    const Block block = inbox_.take(meeting.key(), sender);
    meeting.below[sender] = block.call;
    const UpNote below = UpNote::read(block.context);
    all.note.wants_table = all.note.wants_table || below.wants_table;
    all.note.orders.add(self_, sender, below.orders);
    if (block.bytes == nullptr) return fail(Errc::bad_input, meeting.name, "an empty table");
    auto table = Table::open(*block.bytes);
    if (!table) return fail(std::move(table).error().within("rank " + std::to_string(sender.rank)));
    for (std::uint32_t i = 0; i < table->size(); ++i) {
      all.entries.push_back(table->entry(i));
      if (all.entries.back().proc == sender) learn(sender, all.entries.back().card);  // to be answered
    }
  }
  return all;
}

Result<void> Hierarchical::fetch_parent(Meeting& meeting) {
  const bool may_come_otherwise = may_lose_fence(meeting);
  const ProcId parent = *meeting.place.parent;
  const auto what = [&] {
    return meeting.name + ": waits for the addresses of rank " + std::to_string(parent.rank);
  };
  const FindFailure find_failure = failure_of(meeting, [] { return std::vector<ProcId>(); });
  for (std::uint64_t pause = kFirstPauseNs;; pause = std::min(pause * 2, kLongestPauseNs)) {
    auto found = card_client_.card(parent);
    if (!found) return fail(std::move(found).error());
    if (found->what == btl::Found::What::address) {
      learn(parent, std::move(found->address));
      return {};
    }
    if (covered(meeting)) return {};
    if (auto possible = still_possible(find_failure, what()); !possible) return possible;
    if (found->what == btl::Found::What::none || meeting.deadline.passed()) {
      return fail(Errc::timed_out, meeting.name,
                  "gave up (parameter bootstrap_timeout): rank " + std::to_string(parent.rank) +
                      " has not published its addresses; every member of the group must make the same call");
    }
    if (may_come_otherwise && meeting.patience.passed()) {
      if (learn_by_name(meeting)) return {};
      // Without names everybody meets, once; the answer may come meanwhile, if the parent was only late.
      const auto answered = [&] {
        const auto card = card_client_.card(parent);
        return card && card->what == btl::Found::What::address;
      };
      if (auto gone = go_another_way(meeting, find_failure, answered); !gone) return gone;
    }
    if (auto paused = control_channel_.pause(pause, what); !paused) return paused;
  }
}

/// One question.
bool Hierarchical::learn_by_name(const Meeting& meeting) {
  if (!pmi_.capabilities().name_service) return false;
  const auto text = pmi_.lookup(published_name(meeting, *meeting.place.parent));
  auto card =
      text ? pmi::ValueCodec::decode(*text) : Result<std::vector<std::byte>>(fail(Error(text.error())));
  if (card) learn(*meeting.place.parent, std::move(*card));
  return card.has_value();
}

/// For what has to be told.
void Hierarchical::look_up_parent(const Meeting& meeting) {
  const auto discovery = discovery_for(meeting);
  if (discovery && *discovery == Discovery::lookup) (void)learn_by_name(meeting);
}

Result<void> Hierarchical::find_by_name(const Meeting& meeting) {
  const ProcId parent = *meeting.place.parent;
  const auto what = [&] {
    return meeting.name + ": waits for the published name of rank " + std::to_string(parent.rank);
  };
  const FindFailure find_failure = failure_of(meeting, [&] { return std::vector{parent}; });
  for (std::uint64_t pause = kFirstPauseNs;; pause = std::min(pause * 2, kLongestPauseNs)) {
    auto text = pmi_.lookup(published_name(meeting, parent));
    if (text) {
      auto card = pmi::ValueCodec::decode(*text);
      if (!card) return fail(std::move(card).error());
      learn(parent, std::move(*card));
      return {};
    }
    if (covered(meeting)) return {};
    if (auto possible = still_possible(find_failure, what()); !possible) return possible;
    if (text.error().code != Errc::not_found) return fail(std::move(text).error());
    if (meeting.deadline.passed()) {
      return fail(Errc::timed_out, meeting.name,
                  "gave up (parameter bootstrap_timeout): rank " + std::to_string(parent.rank) +
                      " has not published its name; every member of the group must make the same call");
    }
    if (auto paused = control_channel_.pause(pause, what); !paused) return paused;
  }
}

Result<Discovery> Hierarchical::discovery_for(const Meeting& meeting) const {
  auto chosen = choose_discovery(mode_, pmi_.capabilities(),
                                 is_whole_world(*meeting.members(), self_.world, world_size_));
  if (!chosen) return fail(std::move(chosen).error());
  return chosen->discovery;
}

/// The name under which a root publishes its card for one exchange; the key makes it unique.
std::string Hierarchical::published_name(const Meeting& meeting, ProcId root) const {
  return "starling-" + text_of(meeting.key()) + "-" + std::to_string(root.rank);
}

/// Puts the card of a root with roots below it where they look for it, and enters the fence if there is one.
/// With `world` all members do it, so that each process of the job does it once.
Result<void> Hierarchical::become_visible(Meeting& meeting, Discovery discovery) {
  const RootsPlace& place = meeting.place;
  if (place.nodes == 1 || covered(meeting)) return {};
  const bool looked_for = !place.root_children.empty();
  if (looked_for && discovery == Discovery::lookup) {
    if (auto done = publish(meeting); !done) return done;
    // Members with other parameters would look there, and then hear from this one what differs.
    return pmi_.capabilities().get_without_fence ? card_client_.expose() : Result<void>();
  }
  if (discovery == Discovery::world || looked_for) {
    if (auto put = card_client_.expose(); !put) return put;
  }
  const FindFailure find_failure = failure_of(meeting, [&] {
    std::vector<ProcId> procs = place.root_children;
    procs.insert(procs.end(), place.node_children.begin(), place.node_children.end());
    if (place.parent) procs.push_back(*place.parent);
    return procs;
  });
  if (discovery == Discovery::world)
    return meet_world(control_channel_, fenced_, meeting.deadline, find_failure);
  if (discovery != Discovery::native || !place.root || fenced_.covers_world()) return {};
  return fence_of_roots(meeting, find_failure);
}

/// Makes the parent of a root known.
Result<void> Hierarchical::find_parent(Meeting& meeting, Discovery discovery) {
  if (!meeting.place.root || covered(meeting)) return {};
  const bool by_name =
      discovery == Discovery::lookup ||
      (discovery == Discovery::native && meeting.fence_lost && pmi_.capabilities().name_service);
  return by_name ? find_by_name(meeting) : fetch_parent(meeting);
}

Result<ContextId> Hierarchical::hold(Meeting& meeting) {
  auto discovery = discovery_for(meeting);
  if (!discovery) return fail(std::move(discovery).error());
  if (auto visible = become_visible(meeting, *discovery); !visible) return fail(std::move(visible).error());
  auto all = gather(meeting);
  if (!all) return fail(std::move(all).error());
  meeting.gathered = true;
  if (meeting.published) {  // the children have said hello, so they have read it
    meeting.published = false;
    if (auto gone = pmi_.unpublish(published_name(meeting, self_)); !gone)
      return fail(std::move(gone).error());
  }
  if (!meeting.place.parent) {
    if (auto differ = all->note.orders.error(meeting.name)) return fail(std::move(*differ));
    return lead(meeting, std::move(*all));
  }
  // Only now: by the time that all below have come, the parent mostly has, and one question is enough.
  if (auto found = find_parent(meeting, *discovery); !found) return fail(std::move(found).error());
  meeting.sent_up = true;
  auto sent = consistency_.send(*meeting.place.parent,
                                {BlockKind::up, meeting.key(), all->note.written(), 0, 1,
                                 share_bytes(encode_table(std::move(all->entries))), meeting.call.number()});
  if (!sent) return fail(std::move(sent).error());
  return take_result(meeting);
}

/// The end of an exchange at the lowest member.
Result<ContextId> Hierarchical::lead(const Meeting& meeting, Gathered all) {
  auto id = agreement_.next_context_id();
  if (!id) return id;
  Book book(store_);
  Block block{BlockKind::down, meeting.key(), *id, 0, 1, nullptr};
  if (!all.note.wants_table) {
    if (auto passed = pass_on(meeting, block); !passed) return fail(std::move(passed).error());
  } else {
    auto chunks = encode_chunks(std::move(all.entries), kChunkBytes);
    block.count = static_cast<std::uint32_t>(chunks.size());
    for (auto& chunk : chunks) {
      block.bytes = share_bytes(std::move(chunk));
      if (auto passed = pass_on(meeting, block); !passed) return fail(std::move(passed).error());
      if (auto kept = book.add(block.bytes); !kept) return fail(std::move(kept).error());
      ++block.number;
    }
  }
  if (auto done = finish(meeting, *id, std::move(book)); !done) return fail(std::move(done).error());
  return id;
}

/// A root passes each chunk on as it comes: the whole table takes as long to the last root as to the first
/// but for a chunk per step.
Result<ContextId> Hierarchical::take_result(Meeting& meeting) {
  const ProcId parent = *meeting.place.parent;
  Book book(meeting.place.root ? store_ : nullptr);
  ContextId id;
  for (std::uint32_t number = 0, count = 1; number < count; ++number) {
    if (auto there = wait_for(meeting, {parent}); !there) return fail(std::move(there).error());
    const Block block = inbox_.take(meeting.key(), parent);
    id = block.context;
    count = block.count;
    if (block.kind == BlockKind::shared) {
      auto shared = Book::open(store_, block);
      if (!shared) return fail(std::move(shared).error());
      books_.push_back(std::move(*shared));
      return id;
    }
    if (block.number != number) return fail(Errc::bad_input, meeting.name, "a chunk is missing");
    if (auto passed = pass_on(meeting, block); !passed) return fail(std::move(passed).error());
    if (block.bytes == nullptr) continue;
    if (auto kept = book.add(block.bytes); !kept) return fail(std::move(kept).error());
  }
  if (auto done = finish(meeting, id, std::move(book)); !done) return fail(std::move(done).error());
  return id;
}

/// To a member below, as an answer to its call.
Result<void> Hierarchical::send_down(const Meeting& meeting, ProcId child, Block block) {
  block.call = meeting.below.at(child);
  return consistency_.send(child, std::move(block));
}

Result<void> Hierarchical::pass_on(const Meeting& meeting, const Block& block) {
  for (const ProcId child : meeting.place.root_children) {
    if (auto sent = send_down(meeting, child, block); !sent) return sent;
  }
  return {};
}

/// Tells the members on the node. Without a chunk everybody knows everybody.
Result<void> Hierarchical::finish(const Meeting& meeting, ContextId id, Book book) {
  std::vector<Block> blocks(1, {BlockKind::down, meeting.key(), id, 0, 1, nullptr});
  if (const std::uint32_t chunks = book.chunks(); chunks > 0 && !meeting.place.node_children.empty()) {
    if (const auto shared = book.share()) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&*shared);
      blocks[0].kind = BlockKind::shared;
      blocks[0].bytes = share_bytes({bytes, bytes + sizeof *shared});
    } else {
      blocks.clear();
      for (std::uint32_t number = 0; number < chunks; ++number) {
        const auto chunk = book.chunk(number);
        blocks.push_back(
            {BlockKind::down, meeting.key(), id, number, chunks, share_bytes({chunk.begin(), chunk.end()})});
      }
    }
  }
  if (book.chunks() > 0) books_.push_back(std::move(book));
  for (const ProcId child : meeting.place.node_children) {
    for (const Block& block : blocks) {
      if (auto sent = send_down(meeting, child, block); !sent) return sent;
    }
  }
  return {};
}

}  // namespace starling::bootstrap
