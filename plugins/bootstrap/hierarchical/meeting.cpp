// SPDX-License-Identifier: BSD-3-Clause
// One exchange: cards go up, the table and the context id go down. What is hard: nobody but its parent can be
// reached by a root at first, and a parent can answer a child only once it has the child's card. With
// threads, some members may find the group covered by an exchange that others have not ended yet: so all send
// the same messages, covered or not; who is not says so, and then the table goes down; and whoever looks for
// its parent at the process manager stops when the group is covered after all. Layer: plugin. See
// docs/design/startup.md.

#include <algorithm>
#include <string>

#include "frameworks/bootstrap/members.hpp"
#include "plugins/bootstrap/hierarchical/component.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::uint64_t kFirstPauseNs = 1'000'000, kLongestPauseNs = 20'000'000;
/// What a root passes on at once. A power of two of bytes wastes nothing of the node's segment.
constexpr std::size_t kSheetBytes = 64 * 1024;

std::string to_hex(const std::vector<std::byte>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte >> 4)];
    text += kDigits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text;
}

Result<std::vector<std::byte>> from_hex(const std::string& text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return fail(Errc::bad_input, "a published card", "has a digit that is none");
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

}  // namespace

std::optional<ProcId> Hierarchical::dead_in(const Meeting& meeting) const {
  if (const auto dead = inbox_.dead(meeting.key)) return dead;
  return courier_.dead_among(*meeting.creation.members);
}

/// Whether the parent can be reached, after one question to the process manager if need be.
bool Hierarchical::reaches_parent(const Meeting& meeting) {
  if (!meeting.place.parent) return false;
  const ProcId parent = *meeting.place.parent;
  const auto way = way_for(meeting);
  if (!meeting.place.root || has_card(parent) || !way) return !meeting.place.root || has_card(parent);
  if (*way == Way::lookup) {
    const auto text = pmi_.lookup(published_name(meeting, parent));
    auto card = text ? from_hex(*text) : Result<std::vector<std::byte>>(fail(Error(text.error())));
    if (card) learn(parent, std::move(*card));
  } else {
    auto found = desk_.card(parent);
    if (found && found->what == btl::Found::What::address) learn(parent, std::move(found->address));
  }
  return has_card(parent);
}

/// Those next to this process may have no other way to learn why nothing comes. Who comes later is told when
/// its table arrives (on_block); a parent that comes later waits until its deadline.
void Hierarchical::pass_on_death(const Meeting& meeting, ProcId dead) {
  const Block block{BlockKind::failed, meeting.key, ContextId{dead.rank}, 0, 1, nullptr};
  std::vector<ProcId> others = meeting.place.node_children;
  for (const ProcId child : meeting.place.root_children) {
    if (inbox_.has(meeting.key, child)) learn_from(child, inbox_.take(meeting.key, child));
    if (has_card(child)) others.push_back(child);
  }
  if (reaches_parent(meeting)) others.push_back(*meeting.place.parent);
  for (const ProcId other : others) {
    if (other != dead) (void)courier_.send_block(other, block);  // who cannot be reached has ended as well
  }
}

Result<void> Hierarchical::wait_for(const Meeting& meeting, const std::vector<ProcId>& senders) {
  const auto missing = [&] {
    std::string ranks;
    for (const ProcId sender : senders) {
      if (!inbox_.has(meeting.key, sender))
        ranks += (ranks.empty() ? "" : ", ") + std::to_string(sender.rank);
    }
    return ranks;
  };
  const auto all_there = [&] {
    return std::all_of(senders.begin(), senders.end(),
                       [&](ProcId sender) { return inbox_.has(meeting.key, sender); });
  };
  const auto what = [&] {
    return meeting.name + ": waits for rank(s) " + missing() + " or members that join through them";
  };
  auto waited = wait_while_alive(
      courier_, [&] { return dead_in(meeting); }, all_there, meeting.deadline, what);
  if (waited || waited.error().code != Errc::timed_out) return waited;
  const std::string hint = waited.error().detail.empty() ? "" : "\n  " + waited.error().detail;
  return fail(Errc::timed_out, meeting.name,
              "gave up (parameter bootstrap_timeout): waits for rank(s) " + missing() +
                  " or members that join through them; every member of the group must make the same call" +
                  hint);
}

/// What this process and all below it have.
Result<Hierarchical::Gathered> Hierarchical::gather(const Meeting& meeting) {
  std::vector<ProcId> senders = meeting.place.node_children;
  senders.insert(senders.end(), meeting.place.root_children.begin(), meeting.place.root_children.end());
  if (auto there = wait_for(meeting, senders); !there) return fail(std::move(there).error());
  Gathered all{{{self_, desk_.own_card()}}, !covered(meeting)};
  for (const ProcId sender : senders) {
    const Block block = inbox_.take(meeting.key, sender);
    all.wants_table = all.wants_table || block.context.bits != 0;
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

Result<void> Hierarchical::fetch_parent(const Meeting& meeting) {
  const ProcId parent = *meeting.place.parent;
  const auto what = [&] {
    return meeting.name + ": waits for the addresses of rank " + std::to_string(parent.rank);
  };
  for (std::uint64_t pause = kFirstPauseNs;; pause = std::min(pause * 2, kLongestPauseNs)) {
    auto found = desk_.card(parent);
    if (!found) return fail(std::move(found).error());
    if (found->what == btl::Found::What::address) {
      learn(parent, std::move(found->address));
      return {};
    }
    if (covered(meeting)) return {};
    if (auto alive = all_alive([&] { return dead_in(meeting); }, what()); !alive) return alive;
    if (found->what == btl::Found::What::none || meeting.deadline.passed()) {
      return fail(Errc::timed_out, meeting.name,
                  "gave up (parameter bootstrap_timeout): rank " + std::to_string(parent.rank) +
                      " has not published its addresses; every member of the group must make the same call");
    }
    if (auto paused = courier_.pause(pause, what); !paused) return paused;
  }
}

Result<void> Hierarchical::find_by_name(const Meeting& meeting) {
  const ProcId parent = *meeting.place.parent;
  const auto what = [&] {
    return meeting.name + ": waits for the published name of rank " + std::to_string(parent.rank);
  };
  for (std::uint64_t pause = kFirstPauseNs;; pause = std::min(pause * 2, kLongestPauseNs)) {
    auto text = pmi_.lookup(published_name(meeting, parent));
    if (text) {
      auto card = from_hex(*text);
      if (!card) return fail(std::move(card).error());
      learn(parent, std::move(*card));
      return {};
    }
    if (covered(meeting)) return {};
    if (auto alive = all_alive([&] { return dead_in(meeting); }, what()); !alive) return alive;
    if (text.error().code != Errc::not_found) return fail(std::move(text).error());
    if (meeting.deadline.passed()) {
      return fail(Errc::timed_out, meeting.name,
                  "gave up (parameter bootstrap_timeout): rank " + std::to_string(parent.rank) +
                      " has not published its name; every member of the group must make the same call");
    }
    if (auto paused = courier_.pause(pause, what); !paused) return paused;
  }
}

Result<Way> Hierarchical::way_for(const Meeting& meeting) const {
  auto chosen = choose_way(mode_, pmi_.capabilities(), meeting.creation.members->size() == world_size_);
  if (!chosen) return fail(std::move(chosen).error());
  return chosen->way;
}

/// The name under which a root publishes its card for one exchange; the key makes it unique.
std::string Hierarchical::published_name(const Meeting& meeting, ProcId root) const {
  return "starling-" + text_of(meeting.key) + "-" + std::to_string(root.rank);
}

/// Puts the card of a root with roots below it where they look for it, and enters the fence if there is one.
/// With `world` all members do it, so that each process of the job does it once.
Result<void> Hierarchical::become_visible(const Meeting& meeting, Way way) {
  const RootsPlace& place = meeting.place;
  if (place.nodes == 1 || covered(meeting)) return {};
  const bool looked_for = !place.root_children.empty();
  if (looked_for && way == Way::lookup)
    return pmi_.publish(published_name(meeting, self_), to_hex(desk_.own_card()));
  if (way == Way::world || looked_for) {
    if (auto put = desk_.expose(); !put) return put;
  }
  if (way == Way::world) return meet_world(courier_, fenced_, meeting.deadline);
  if (way != Way::native || !place.root) return {};
  return courier_.fence(ranks_of_roots(meeting.creation.members, nodes_), "roots " + text_of(meeting.key),
                        meeting.deadline, [&] { return covered(meeting) || dead_in(meeting).has_value(); });
}

/// Makes the parent of a root reachable.
Result<void> Hierarchical::find_parent(const Meeting& meeting, Way way) {
  if (!meeting.place.root || covered(meeting)) return {};
  return way == Way::lookup ? find_by_name(meeting) : fetch_parent(meeting);
}

Result<ContextId> Hierarchical::hold(const Meeting& meeting) {
  auto way = way_for(meeting);
  if (!way) return fail(std::move(way).error());
  const bool published = *way == Way::lookup && !meeting.place.root_children.empty() && !covered(meeting);
  if (auto visible = become_visible(meeting, *way); !visible) return fail(std::move(visible).error());
  auto all = gather(meeting);
  if (!all) return fail(std::move(all).error());
  if (published) {  // the children have said hello, so they have read it
    if (auto gone = pmi_.unpublish(published_name(meeting, self_)); !gone)
      return fail(std::move(gone).error());
  }
  if (!meeting.place.parent) return lead(meeting, std::move(*all));
  // Only now: by the time that all below have come, the parent mostly has, and one question is enough.
  if (auto found = find_parent(meeting, *way); !found) return fail(std::move(found).error());
  const ContextId wants{all->wants_table ? 1u : 0u};
  auto sent = courier_.send_block(
      *meeting.place.parent,
      {BlockKind::up, meeting.key, wants, 0, 1, share_bytes(encode_table(std::move(all->entries)))});
  if (!sent) return fail(std::move(sent).error());
  return take_result(meeting);
}

/// The end of an exchange at the lowest member.
Result<ContextId> Hierarchical::lead(const Meeting& meeting, Gathered all) {
  auto id = agreement_.next_context_id();
  if (!id) return id;
  Book book(store_);
  Block block{BlockKind::down, meeting.key, *id, 0, 1, nullptr};
  if (!all.wants_table) {
    if (auto passed = pass_on(meeting, block); !passed) return fail(std::move(passed).error());
  } else {
    auto sheets = encode_sheets(std::move(all.entries), kSheetBytes);
    block.count = static_cast<std::uint32_t>(sheets.size());
    for (auto& sheet : sheets) {
      block.bytes = share_bytes(std::move(sheet));
      if (auto passed = pass_on(meeting, block); !passed) return fail(std::move(passed).error());
      if (auto kept = book.add(block.bytes); !kept) return fail(std::move(kept).error());
      ++block.number;
    }
  }
  if (auto done = finish(meeting, *id, std::move(book)); !done) return fail(std::move(done).error());
  return id;
}

/// A root passes each sheet on as it comes: the whole table takes as long to the last root as to the first
/// but for a sheet per step.
Result<ContextId> Hierarchical::take_result(const Meeting& meeting) {
  const ProcId parent = *meeting.place.parent;
  Book book(meeting.place.root ? store_ : nullptr);
  ContextId id;
  for (std::uint32_t number = 0, count = 1; number < count; ++number) {
    if (auto there = wait_for(meeting, {parent}); !there) return fail(std::move(there).error());
    const Block block = inbox_.take(meeting.key, parent);
    id = block.context;
    count = block.count;
    if (block.kind == BlockKind::shared) {
      auto shared = Book::open(store_, block);
      if (!shared) return fail(std::move(shared).error());
      books_.push_back(std::move(*shared));
      return id;
    }
    if (block.number != number) return fail(Errc::bad_input, meeting.name, "a sheet is missing");
    if (auto passed = pass_on(meeting, block); !passed) return fail(std::move(passed).error());
    if (block.bytes == nullptr) continue;
    if (auto kept = book.add(block.bytes); !kept) return fail(std::move(kept).error());
  }
  if (auto done = finish(meeting, id, std::move(book)); !done) return fail(std::move(done).error());
  return id;
}

Result<void> Hierarchical::pass_on(const Meeting& meeting, const Block& block) {
  for (const ProcId child : meeting.place.root_children) {
    if (auto sent = courier_.send_block(child, block); !sent) return sent;
  }
  return {};
}

/// Tells the members on the node. Without a sheet everybody knows everybody.
Result<void> Hierarchical::finish(const Meeting& meeting, ContextId id, Book book) {
  std::vector<Block> blocks(1, {BlockKind::down, meeting.key, id, 0, 1, nullptr});
  if (const std::uint32_t sheets = book.sheets(); sheets > 0 && !meeting.place.node_children.empty()) {
    if (const auto shared = book.share()) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&*shared);
      blocks[0].kind = BlockKind::shared;
      blocks[0].bytes = share_bytes({bytes, bytes + sizeof *shared});
    } else {
      blocks.clear();
      for (std::uint32_t number = 0; number < sheets; ++number) {
        const auto sheet = book.sheet(number);
        blocks.push_back(
            {BlockKind::down, meeting.key, id, number, sheets, share_bytes({sheet.begin(), sheet.end()})});
      }
    }
  }
  if (book.sheets() > 0) books_.push_back(std::move(book));
  for (const ProcId child : meeting.place.node_children) {
    for (const Block& block : blocks) {
      if (auto sent = courier_.send_block(child, block); !sent) return sent;
    }
  }
  return {};
}

}  // namespace starling::bootstrap
