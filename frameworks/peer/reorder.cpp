// SPDX-License-Identifier: BSD-3-Clause
// Order over several paths. See docs/design/network.md, "Several paths".
#include "frameworks/peer/reorder.hpp"

#include <utility>

namespace starling::peer {

Reorder::Place Reorder::offer(std::uint64_t number, std::span<const std::byte> message) {
  if (number == taken_ + 1) {
    ++taken_;
    return Place::next;
  }
  if (number <= taken_ || number > taken_ + kWindow) return Place::refused;
  if (slots_ == nullptr) slots_ = std::make_unique<Slots>();
  Slot& slot = (*slots_)[number % kWindow];
  if (slot) return Place::refused;
  slot.emplace(message.begin(), message.end());
  ++held_;
  return Place::held;
}

std::optional<std::vector<std::byte>> Reorder::take() {
  if (held_ == 0) return std::nullopt;
  Slot& slot = (*slots_)[(taken_ + 1) % kWindow];
  if (!slot) return std::nullopt;
  ++taken_;
  --held_;
  return std::exchange(slot, std::nullopt);
}

bool Reorder::tell() noexcept {
  if (taken_ - told_ < kWindow / 4) return false;
  told_ = taken_;
  return true;
}

}  // namespace starling::peer
