// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Numbers for requests that a peer will refer to. Layer: framework (pml).
///
/// Rendezvous and synchronous sends need answers. A peer never sees a pointer: an id is {generation, index},
/// so a late or malformed answer finds nothing instead of a recycled request. 0 is never an id.
/// Threads: the pml's. Ownership: requests stay the caller's. Errors: none.

#include <cstdint>
#include <vector>

#include "frameworks/pml/request.hpp"

namespace starling::pml {

class Transfers {
 public:
  [[nodiscard]] std::uint64_t add(Request& request) {
    if (free_ == kNone) {
      slots_.push_back({nullptr, 1, kNone});
      free_ = static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t index = free_;
    Slot& slot = slots_[index];
    free_ = slot.next_free;
    slot.request = &request;
    ++live_;
    return (std::uint64_t{slot.generation} << 32) | index;
  }
  [[nodiscard]] Request* find(std::uint64_t id) const noexcept {
    const std::uint64_t index = id & 0xffffffffu;
    if (index >= slots_.size() || slots_[index].generation != id >> 32) return nullptr;
    return slots_[index].request;
  }
  void remove(std::uint64_t id) noexcept {
    const auto index = static_cast<std::uint32_t>(id & 0xffffffffu);
    Slot& slot = slots_[index];
    slot.request = nullptr;
    if (++slot.generation == 0) slot.generation = 1;
    slot.next_free = free_;
    free_ = index;
    --live_;
  }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  /// Calls visit(Request&) for each; visit may remove what it is given, not add.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t index = 0; index < slots_.size(); ++index) {
      if (slots_[index].request != nullptr) visit(*slots_[index].request);
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  struct Slot {
    Request* request;
    std::uint32_t generation;
    std::uint32_t next_free;
  };
  std::vector<Slot> slots_;
  std::uint32_t free_ = kNone;
  std::size_t live_ = 0;
};

}  // namespace starling::pml
