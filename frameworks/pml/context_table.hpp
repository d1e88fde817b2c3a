// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Context ids to contexts, and what came for ids that are not open. Layer: framework (pml).
///
/// The hot look-up is one entry of a direct-mapped cache; a miss goes to a hash table. A message for an id
/// that this process has not opened yet is parked, in order, until open(); for one that it has closed, it is
/// refused.
/// Threads:   the pml's.
/// Ownership: contexts are owned here; messages are the pool's.

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "core/ids.hpp"
#include "frameworks/pml/closed_ids.hpp"
#include "frameworks/pml/context.hpp"

namespace starling::pml {

class ContextTable {
 public:
  [[nodiscard]] Context* find(ContextId id) noexcept {
    Entry& entry = cache_[slot(id)];
    if (entry.id == id.bits) [[likely]]
      return entry.context;
    return find_slowly(id);
  }

  /// Null if the id is open already. May throw std::bad_alloc: then it is not open.
  Context* add(ContextIds ids, Rank my_rank, ProcListPtr ranks) {
    const ContextId id = ids.own();
    if (open_.count(id) != 0) return nullptr;
    auto made = std::make_unique<Context>(std::move(ids), my_rank, std::move(ranks));
    return open_.emplace(id, std::move(made)).first->second.get();
  }
  void remove(Context& context) {
    const ContextId id = context.id();
    Entry& entry = cache_[slot(id)];
    if (entry.id == id.bits) entry = {};
    closed_.add(id);
    open_.erase(id);
  }
  [[nodiscard]] bool closed(ContextId id) const { return closed_.contains(id); }

  void park(ContextId id, Message& message) { parked_[id].push_back(message); }
  /// The messages parked for an id, given out once.
  [[nodiscard]] ArrivalChain unpark(ContextId id) {
    const auto at = parked_.find(id);
    if (at == parked_.end()) return {};
    ArrivalChain messages = at->second;
    parked_.erase(at);
    return messages;
  }
  /// The parked messages of an id, or null.
  [[nodiscard]] ArrivalChain* parked(ContextId id) {
    const auto at = parked_.find(id);
    return at == parked_.end() ? nullptr : &at->second;
  }

  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [id, context] : open_) visit(*context);
  }
  template <class Visit>
  void each_parked(Visit visit) {
    for (auto& [id, messages] : parked_) visit(id, messages);
  }

 private:
  struct Entry {
    std::uint64_t id = ~std::uint64_t{0};  // no context has this id: there is no channel 7
    Context* context = nullptr;
  };
  static constexpr std::size_t kSlots = 16;
  // Counter and channel both move the slot: the channels of one communicator and neighbouring communicators
  // do not collide.
  static std::size_t slot(ContextId id) noexcept { return (id.bits ^ (id.bits >> 3)) & (kSlots - 1); }

  [[gnu::noinline]] Context* find_slowly(ContextId id) noexcept {
    const auto at = open_.find(id);
    if (at == open_.end()) return nullptr;
    cache_[slot(id)] = {id.bits, at->second.get()};
    return at->second.get();
  }

  std::array<Entry, kSlots> cache_{};
  std::unordered_map<ContextId, std::unique_ptr<Context>> open_;
  std::unordered_map<ContextId, ArrivalChain> parked_;
  ClosedIds closed_;
};

}  // namespace starling::pml
