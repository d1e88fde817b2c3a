// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One bit per producer: which lanes a consumer of many has to look at. Layer: plugin.
///
/// A consumer with many lanes raises kWantsActivity (frameworks/shm/doorbell.hpp) and from then on polls
/// these words instead of the lanes. It takes the bits down and then looks at their lanes; a producer
/// publishes and then looks at its bit, and sets it if it is down. A full fence between the two steps on
/// either side makes it impossible that both look too early.
///
/// Threads:   any number of producers; one consumer.
/// Ordering:  what was published before the bit was seen is visible to who took the bit.

#include <atomic>
#include <cstdint>

#include "frameworks/shm/doorbell.hpp"

namespace starling::btl {

/// Producer, behind a full fence after publishing.
template <class Word>
void mark_activity(Word& word, std::uint64_t bit) noexcept {
  if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
}

/// Consumer: asks producers for bits. Each lane counts as marked once, since whoever published before it
/// could see the request has set none.
template <class Atomics, class Word>
void request_activity(Word& attention) noexcept {
  attention.fetch_or(shm::kWantsActivity, std::memory_order_relaxed);
  Atomics::fence(std::memory_order_seq_cst);
}

/// Consumer: takes the bits of one word; their lanes must be polled after this.
template <class Atomics, class Word>
[[nodiscard]] std::uint64_t take_activity(Word& word) noexcept {
  if (word.load(std::memory_order_relaxed) == 0) return 0;
  const std::uint64_t bits = word.exchange(0, std::memory_order_relaxed);
  Atomics::fence(std::memory_order_seq_cst);
  return bits;
}

}  // namespace starling::btl
