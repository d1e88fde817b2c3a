// SPDX-License-Identifier: BSD-3-Clause
// See docs/design/dynamic.md, "Which protocol a message takes".
#include "plugins/pml/dynamic/policy.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace starling::pml {

namespace {

const char* name_of(Large protocol) {
  constexpr const char* kNames[] = {"ring", "get", "lend", "claim"};
  return static_cast<unsigned>(protocol) < 4 ? kNames[static_cast<unsigned>(protocol)] : "?";
}

/// What names a trial and its option in LargeChoice::trial; never 0.
struct Ticket {
  std::uint32_t pair;
  unsigned slot, option;
  static constexpr unsigned kSlots = 4 * SizeClasses::kCount;

  static Ticket of(std::uint32_t number) noexcept {
    const std::uint32_t rest = (number - 1) / DynamicPolicy::kOptions;
    return {rest / kSlots, rest % kSlots, (number - 1) % DynamicPolicy::kOptions};
  }
  [[nodiscard]] std::uint32_t number() const noexcept {
    return 1 + (pair * kSlots + slot) * DynamicPolicy::kOptions + option;
  }
};

}  // namespace

/// In the order in which they are tried: the first stays where none is clearly faster.
DynamicPolicy::Choice DynamicPolicy::possible(const LargeReceive& receive, bool mapped) const noexcept {
  Choice choice;
  const auto add = [&](Large protocol, bool may) {
    if (may && choice.count < kOptions) choice.protocols[choice.count++] = protocol;
  };
  const bool may_get = receive.can(Large::get);
  const bool may_lend = receive.both && receive.bytes >= config_.lend_min && receive.can(Large::lend);
  if (mapped) {
    add(kClaim, true);
    add(Large::get, may_get);
    add(may_lend ? Large::lend : Large::ring, true);
  } else {
    // As pml/static has it: a copy into and out of the lane while one side sends, none while both do.
    add(Large::ring, !may_lend || !may_get);
    add(Large::get, may_get);
    add(Large::lend, may_lend);
  }
  return choice;
}

DynamicPolicy::Pair* DynamicPolicy::pair(const Peer& peer) noexcept {
  const auto known = numbers_.find(&peer);
  if (known != numbers_.end()) return pairs_[known->second].get();
  try {
    auto made = std::make_unique<Pair>();
    made->peer = &peer;
    pairs_.reserve(pairs_.size() + 1);
    numbers_.emplace(&peer, static_cast<std::uint32_t>(pairs_.size()));
    pairs_.push_back(std::move(made));
    return pairs_.back().get();
  } catch (const std::bad_alloc&) {
    starved_ = true;
    return nullptr;
  }
}

Findings::Key DynamicPolicy::key_of(const Pair& pair, unsigned slot) const noexcept {
  Findings::Key key;
  const btl::CopyWay way = pair.peer->endpoint != nullptr ? pair.peer->endpoint->copies() : btl::CopyWay{};
  if (way.copies != nullptr) key.distance = static_cast<unsigned>(way.copies->distance(way.peer));
  key.both = slot / (2 * kClasses) != 0;
  key.mapped = slot / kClasses % 2 != 0;
  key.size_class = slot % kClasses;
  return key;
}

void DynamicPolicy::adopt(Tried& tried, const Findings::Key& key) noexcept {
  const auto found = findings_.find(key);
  if (!found) return;
  for (unsigned option = 0; option < tried.count; ++option) {
    if (tried.protocols[option] == found->protocol) tried.trial.adopt(option, found->costs, kAdopted);
  }
}

DynamicPolicy::Tried* DynamicPolicy::tried(Pair& pair, unsigned slot, const Choice& choice) noexcept {
  std::unique_ptr<Tried>& tried = pair.tried[slot];
  if (tried != nullptr && tried->protocols == choice.protocols && tried->count == choice.count)
    return tried.get();
  if (!findings_.shared() && pair.peer->endpoint != nullptr) {
    const btl::CopyWay way = pair.peer->endpoint->copies();
    if (way.copies != nullptr) findings_.share(way.copies->segment().findings());
  }
  tried.reset(new (std::nothrow) Tried(choice.count));
  if (tried == nullptr) return nullptr;
  tried->protocols = choice.protocols;
  tried->count = choice.count;
  adopt(*tried, key_of(pair, slot));
  return tried.get();
}

LargeChoice DynamicPolicy::model(const LargeReceive& receive) noexcept {
  const bool mapped = receive.can(kClaim);
  const Choice choice = possible(receive, mapped);
  if (choice.count == 1) return {choice.protocols[0]};
  // Each waits for the other's copies if one gets and the other borrows: the lower one decides for both.
  const Large theirs = receive.peer.large.its_protocol(receive.bytes);
  const auto* const last = choice.protocols.begin() + choice.count;
  if (receive.both && receive.peer.proc < config_.self && theirs != Large::ring &&
      std::find(choice.protocols.begin(), last, theirs) != last)
    return {theirs};
  Pair* const with = pair(receive.peer);
  const unsigned slot = slot_of(receive.both, mapped, SizeClasses::of(receive.bytes));
  Tried* const tried = with != nullptr ? this->tried(*with, slot, choice) : nullptr;
  if (tried == nullptr) return {choice.protocols[0]};
  // Between trials messages are counted, not timed.
  if (!tried->trial.trying()) tried->trial.took(0);
  const unsigned option = tried->trial.option();
  const std::uint32_t number =
      tried->trial.trying() ? Ticket{numbers_.find(&receive.peer)->second, slot, option}.number() : 0;
  return {tried->protocols[option], number};
}

LargeChoice DynamicPolicy::choose(const LargeReceive& receive) noexcept {
  // A network's get is the card's work and always saves a copy; one to oneself is a single copy.
  if (receive.peer.proc == config_.self || receive.peer.transport->limits().reach != btl::Reach::node)
    return {receive.can(Large::get) ? Large::get : Large::ring};
  if (config_.large != DynamicLarge::automatic) {
    const auto asked = static_cast<Large>(static_cast<unsigned>(config_.large) - 1);
    return {receive.can(asked) ? asked : Large::ring};
  }
  if (config_.rule == DynamicRule::popcount) {
    if (receive.can(kClaim)) return {kClaim};
    ++private_;
  }
  return model(receive);
}

void DynamicPolicy::took(std::uint32_t number, std::uint64_t bytes, std::uint64_t ns) noexcept {
  const Ticket ticket = Ticket::of(number);
  if (ticket.pair >= pairs_.size()) return;
  Pair& pair = *pairs_[ticket.pair];
  Tried* const tried = pair.tried[ticket.slot].get();
  // Of a window of receives that matched before the last option had been tried enough, the rest says nothing.
  if (tried == nullptr || !tried->trial.trying() || tried->trial.option() != ticket.option) return;
  tried->bytes += bytes;
  tried->ns += ns;
  if (tried->bytes < kStretchBytes) return;
  const bool ended = tried->trial.took(tried->ns * 1024 / (tried->bytes / 1024));
  tried->bytes = tried->ns = 0;
  if (!ended) return;
  Findings::Finding finding;
  finding.protocol = tried->protocols[tried->trial.option()];
  for (unsigned option = 0; option < tried->count; ++option)
    finding.costs[option] = tried->trial.cost(option);
  findings_.keep(key_of(pair, ticket.slot), finding);
}

CopyShape DynamicPolicy::shape(const Peer& peer, std::uint64_t bytes) noexcept {
  CopyShape shape;
  shape.steal = config_.steal;
  if (config_.rule == DynamicRule::model) return shape;
  const Pair* const with = pair(peer);
  const unsigned took_part = with != nullptr ? with->took_part[SizeClasses::of(bytes)] : 0;
  switch (took_part) {
    case 0: shape.chunk_bytes = kFirstChunk; break;
    case 1:  // GET
      shape.chunk_bytes = bytes;
      shape.invites = false;
      shape.steal = shm::Steal::never;
      break;
    case 2:  // COOP: a half each
      shape.chunk_bytes = (bytes + 1) / 2;
      shape.receiver_chunks = 1;
      shape.steal = shm::Steal::never;
      break;
    default: shape.chunk_bytes = (bytes + took_part - 1) / took_part;
  }
  return shape;
}

void DynamicPolicy::took_part(const Peer& peer, std::uint64_t bytes, std::uint64_t who) noexcept {
  if (config_.rule == DynamicRule::model) return;
  if (Pair* const with = pair(peer))
    with->took_part[SizeClasses::of(bytes)] = static_cast<std::uint8_t>(std::max(std::popcount(who), 1));
}

std::vector<std::string> DynamicPolicy::notes() const {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> notes;
  if (!trials_->note().empty()) notes.push_back(trials_->note());
  if (config_.rule == DynamicRule::popcount && private_ != 0) {
    notes.push_back(
        "pml_dynamic_policy=popcount did not apply to " + std::to_string(private_) +
        " messages: their memory is private (not from MPI_Alloc_mem), and only what both sides can map "
        "is copied by several processes; they went as with model");
  }
  for (const auto& pair : pairs_) {
    std::string text;
    for (unsigned slot = 0; slot < pair->tried.size(); ++slot) {
      const Tried* const tried = pair->tried[slot].get();
      if (tried == nullptr || tried->trial.trying()) continue;
      text += std::string(text.empty() ? " " : "; ") + SizeClasses::text(slot % kClasses) +
              (slot / kClasses % 2 != 0 ? " mapped" : "") + (slot / (2 * kClasses) != 0 ? " both ways" : "") +
              ": " + name_of(tried->protocols[tried->trial.option()]) + " (";
      for (unsigned option = 0; option < tried->count; ++option) {
        text += std::string(option == 0 ? "" : ", ") + name_of(tried->protocols[option]) + " " +
                speed_text(tried->trial.cost(option));
      }
      text += " MB/s)";
    }
    if (text.empty()) continue;
    if (notes.size() == kMost) {
      notes.push_back("and more processes");
      break;
    }
    notes.push_back("large messages from rank " + std::to_string(pair->peer->proc.rank) + ", tried from" +
                    text);
  }
  if (starved_) notes.emplace_back("no memory for what was tried with some processes");
  return notes;
}

}  // namespace starling::pml
