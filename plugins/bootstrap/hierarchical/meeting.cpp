// SPDX-License-Identifier: BSD-3-Clause
// One exchange: cards go up, the table and the context id go down. What is hard: nobody but its parent can be
// reached by a root at first, and a parent can answer a child only once it has the child's card. With
// threads, some members may find the group covered by an exchange that others have not ended yet: so all send
// the same messages, covered or not; who is not says so, and then the table goes down; and whoever looks for
// its parent at the process manager stops when the group is covered after all. Layer: plugin. See
// docs/design/startup.md.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "frameworks/shm/node_segment.hpp"
#include "plugins/bootstrap/hierarchical/component.hpp"

namespace starling::bootstrap {
namespace {

constexpr std::uint64_t kFirstPauseNs = 1'000'000, kLongestPauseNs = 20'000'000;

/// The name under which a root publishes its card for one exchange; the key makes it unique.
std::string published_name(const Key& key, std::uint32_t rank) {
  return "starling-" + text_of(key) + "-" + std::to_string(rank);
}

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

Result<void> Hierarchical::wait_for(const Meeting& meeting, const std::vector<ProcId>& senders) {
  const auto missing = [&] {
    std::string ranks;
    for (const ProcId sender : senders) {
      if (inbox_.find(meeting.key, sender) == nullptr)
        ranks += (ranks.empty() ? "" : ", ") + std::to_string(sender.rank);
    }
    return ranks;
  };
  const auto all_there = [&] {
    return std::all_of(senders.begin(), senders.end(),
                       [&](ProcId sender) { return inbox_.find(meeting.key, sender) != nullptr; });
  };
  auto waited = courier_.wait(all_there, meeting.deadline, [&] {
    return meeting.name + ": waits for rank(s) " + missing() + " or members that join through them";
  });
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
    const Block& block = *inbox_.find(meeting.key, sender);
    all.wants_table = all.wants_table || block.context.bits != 0;
    auto table = Table::open(block.bytes);
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
    if (found->what == btl::Found::What::none || meeting.deadline.passed()) {
      return fail(Errc::timed_out, meeting.name,
                  "gave up (parameter bootstrap_timeout): rank " + std::to_string(parent.rank) +
                      " has not published its addresses; every member of the group must make the same call");
    }
    auto paused = courier_.wait([] { return false; }, Deadline::after_ns(pause), what);
    if (!paused && paused.error().code != Errc::timed_out) return paused;
  }
}

Result<void> Hierarchical::find_by_name(const Meeting& meeting) {
  const ProcId parent = *meeting.place.parent;
  const auto what = [&] {
    return meeting.name + ": waits for the published name of rank " + std::to_string(parent.rank);
  };
  for (std::uint64_t pause = kFirstPauseNs;; pause = std::min(pause * 2, kLongestPauseNs)) {
    auto text = pmi_.lookup(published_name(meeting.key, parent.rank));
    if (text) {
      auto card = from_hex(*text);
      if (!card) return fail(std::move(card).error());
      learn(parent, std::move(*card));
      return {};
    }
    if (covered(meeting)) return {};
    if (text.error().code != Errc::not_found) return fail(std::move(text).error());
    if (meeting.deadline.passed()) {
      return fail(Errc::timed_out, meeting.name,
                  "gave up (parameter bootstrap_timeout): rank " + std::to_string(parent.rank) +
                      " has not published its name; every member of the group must make the same call");
    }
    auto paused = courier_.wait([] { return false; }, Deadline::after_ns(pause), what);
    if (!paused && paused.error().code != Errc::timed_out) return paused;
  }
}

Result<Way> Hierarchical::way_for(const Meeting& meeting) const {
  auto chosen = choose_way(mode_, pmi_.capabilities(), meeting.creation.members->size() == world_size_);
  if (!chosen) return fail(std::move(chosen).error());
  return chosen->way;
}

/// Makes the parent of a root reachable. With `world` all members enter the fence, so that each process of
/// the job does it once.
Result<void> Hierarchical::find_parent(const Meeting& meeting, Way way) {
  const RootsPlace& place = meeting.place;
  if (place.roots.size() == 1 || covered(meeting)) return {};
  Result<void> ready;
  if (way == Way::world) ready = meet_world(courier_, fenced_, meeting.deadline);
  if (!place.root) return ready;
  if (way == Way::native) {
    ready = courier_.fence(place.roots, "roots " + text_of(meeting.key), meeting.deadline,
                           [&] { return covered(meeting); });
  }
  if (!ready || !place.parent || covered(meeting)) return ready;
  return way == Way::lookup ? find_by_name(meeting) : fetch_parent(meeting);
}

Result<ContextId> Hierarchical::hold(const Meeting& meeting) {
  const RootsPlace& place = meeting.place;
  auto way = way_for(meeting);
  if (!way) return fail(std::move(way).error());
  const bool published = *way == Way::lookup && !place.root_children.empty() && !covered(meeting);
  const std::string name = published_name(meeting.key, self_.rank);
  if (published) {
    if (auto put = pmi_.publish(name, to_hex(desk_.own_card())); !put) return fail(std::move(put).error());
  }
  if (auto found = find_parent(meeting, *way); !found) return fail(std::move(found).error());
  auto all = gather(meeting);
  if (!all) return fail(std::move(all).error());
  if (published) {  // the children have said hello, so they have read it
    if (auto gone = pmi_.unpublish(name); !gone) return fail(std::move(gone).error());
  }
  std::vector<std::byte> block = encode_table(std::move(all->entries));
  if (place.parent) {
    const ContextId wants{all->wants_table ? 1u : 0u};
    auto sent = send_block(courier_, *place.parent, meeting.key, {PieceKind::up, wants, std::move(block)});
    if (!sent) return fail(std::move(sent).error());
    return take_result(meeting);
  }
  auto id = agreement_.next_context_id();
  if (!id) return id;
  if (all->wants_table) {
    if (auto kept = keep(std::move(block), true); !kept) return fail(std::move(kept).error());
  }
  const Book* const book = all->wants_table ? books_.back().get() : nullptr;
  if (auto told = spread(meeting, *id, book); !told) return fail(std::move(told).error());
  return id;
}

Result<ContextId> Hierarchical::take_result(const Meeting& meeting) {
  const ProcId parent = *meeting.place.parent;
  if (auto there = wait_for(meeting, {parent}); !there) return fail(std::move(there).error());
  Block block = *inbox_.find(meeting.key, parent);
  if (block.kind == PieceKind::shared) {
    SharedTable where;
    if (block.bytes.size() != sizeof where)
      return fail(Errc::bad_input, meeting.name, "a place of a wrong length");
    std::memcpy(&where, block.bytes.data(), sizeof where);
    auto table = Table::open({segment_->at(where.offset), static_cast<std::size_t>(where.bytes)});
    if (!table) return fail(std::move(table).error());
    books_.push_back(std::make_unique<Book>(Book{*table, {}}));
    return block.context;
  }
  const bool table = !block.bytes.empty();
  if (table) {
    if (auto kept = keep(std::move(block.bytes), meeting.place.root); !kept)
      return fail(std::move(kept).error());
  }
  auto told = spread(meeting, block.context, table ? books_.back().get() : nullptr);
  if (!told) return fail(std::move(told).error());
  return block.context;
}

/// Hands id and table on. Without a book everybody knows everybody, and the block is empty.
Result<void> Hierarchical::spread(const Meeting& meeting, ContextId id, const Book* book) {
  Block far{PieceKind::down, id, {}};
  if (book != nullptr) far.bytes.assign(book->table.block().begin(), book->table.block().end());
  for (const ProcId child : meeting.place.root_children) {
    if (auto sent = send_block(courier_, child, meeting.key, far); !sent) return sent;
  }
  Block here = far;
  if (book != nullptr && book->own.empty()) {  // in the node's segment
    const auto whole = book->table.block();
    const SharedTable where{static_cast<std::uint64_t>(whole.data() - segment_->at(0)), whole.size()};
    const auto* const bytes = reinterpret_cast<const std::byte*>(&where);
    here = {PieceKind::shared, id, {bytes, bytes + sizeof where}};
  }
  for (const ProcId child : meeting.place.node_children) {
    if (auto sent = send_block(courier_, child, meeting.key, here); !sent) return sent;
  }
  return {};
}

}  // namespace starling::bootstrap
