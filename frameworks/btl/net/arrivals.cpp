// SPDX-License-Identifier: BSD-3-Clause
// Checking frames and telling their senders apart. Layer: framework. Design: docs/design/network.md.

#include "frameworks/btl/net/arrivals.hpp"

#include <algorithm>
#include <utility>

namespace starling::btl::net {

void note(Component::Counters& counters, std::string text) {
  constexpr std::size_t kMost = 16;
  auto& notes = counters.notes;
  if (notes.size() < kMost && std::find(notes.begin(), notes.end(), text) == notes.end()) {
    notes.push_back(std::move(text));
  }
}

int Arrivals::deliver(std::span<const std::byte> frame) noexcept {
  FrameHead head;
  if (frame.size() < sizeof(head)) {
    note(counters_, "a frame without a head was dropped");
    return 0;
  }
  std::memcpy(&head, frame.data(), sizeof(head));
  if (head.token != token_ || head.layout != FrameHead{}.layout || head.rank >= place_.world_size) {
    note(counters_, "a frame for another process was dropped (an old job's, or a stranger's)");
    return 0;
  }
  if (head.kind != FrameKind::messages) [[unlikely]]
    return take_notice(head, frame.subspan(sizeof(head)));
  if (!away_.empty() && frame.size() > sizeof(head)) [[unlikely]]
    away_.erase(head.rank);
  Origin& from = last_ != nullptr && last_->proc.rank == head.rank ? *last_ : origin(head.rank);
  int messages = 0;
  const bool whole = for_each_record(frame.subspan(sizeof(head)), [&](std::span<const std::byte> message) {
    ++messages;
    ++counters_.messages_received;
    counters_.bytes_received += message.size();
    sink_.on_message(from, message);
  });
  if (!whole) note(counters_, "a damaged frame of rank " + std::to_string(head.rank) + " was dropped");
  return messages;
}

/// A frame about its sender, the connection or a get. It may come twice.
int Arrivals::take_notice(const FrameHead& head, std::span<const std::byte> behind) noexcept {
  const bool about_get = head.kind == FrameKind::ask_data || head.kind == FrameKind::refuse_data;
  if (behind.size() != (about_get ? sizeof(AskData) : 0) || head.kind > kLastFrameKind) {
    note(counters_, "a damaged frame of rank " + std::to_string(head.rank) + " was dropped");
    return 0;
  }
  if (head.kind == FrameKind::leaving) {
    away_[head.rank] = Away::said;
  } else if (head.kind == FrameKind::back) {
    away_.erase(head.rank);
  } else if (about_get) {
    asked_ = Asked{head.rank, head.kind, {}};
    std::memcpy(&asked_->what, behind.data(), sizeof(AskData));
  } else {
    closing_ = Closing{head.rank, head.kind};
  }
  return 1;
}

Origin& Arrivals::origin(std::uint32_t rank) {
  auto& origin = origins_[rank];
  if (origin == nullptr)
    origin = std::make_unique<Origin>(Origin{ProcId{place_.self.world, rank}, nullptr, keeper_});
  last_ = origin.get();
  return *origin;
}

}  // namespace starling::btl::net
