// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  From frames to messages. Layer: framework, for the network btls.
///
/// Threads:   as btl::Component.
/// Ownership: one Origin per process that has sent something; they live as long as this.
/// Errors:    a frame that is not for this process, or damaged, is dropped and noted once.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "frameworks/btl/btl.hpp"
#include "frameworks/btl/net/frame.hpp"

namespace starling::btl::net {

/// A fallback with its reason, for the report; each text once, and not without end.
void note(Component::Counters& counters, std::string text);

class Arrivals {
 public:
  Arrivals(Sink& sink, const Place& place, std::uint64_t token, Component::Counters& counters,
           Keeper* keeper = nullptr) noexcept
      : sink_(sink), place_(place), token_(token), counters_(counters), keeper_(keeper) {}

  /// Hands the frame's messages to the sink. Returns how many.
  int deliver(std::span<const std::byte> frame) noexcept;
  /// The oldest frame about closing that has arrived and was not taken; it is behind all messages that were
  /// delivered before it came.
  struct Closing {
    std::uint32_t rank;
    FrameKind kind;
  };
  [[nodiscard]] std::optional<Closing> take_closing() noexcept {
    return std::exchange(closing_, std::nullopt);
  }
  /// The frame about a get that was delivered last, if it was not taken.
  struct Asked {
    std::uint32_t rank;
    FrameKind kind;
    AskData what;
  };
  [[nodiscard]] std::optional<Asked> take_asked() noexcept { return std::exchange(asked_, std::nullopt); }
  /// Processes that have sent something.
  [[nodiscard]] std::size_t senders() const noexcept { return origins_.size(); }
  [[nodiscard]] bool heard_of(std::uint32_t rank) const noexcept { return origins_.count(rank) != 0; }
  /// What the end of a process means now: peer_left if it has said that it leaves, or has said nothing since
  /// this process came back (it may have left meanwhile, unheard); else peer_lost.
  [[nodiscard]] Errc end_of(std::uint32_t rank) const noexcept {
    return away_.count(rank) != 0 ? Errc::peer_left : Errc::peer_lost;
  }
  [[nodiscard]] bool says_left(std::uint32_t rank) const noexcept {
    const auto found = away_.find(rank);
    return found != away_.end() && found->second == Away::said;
  }
  /// This process comes back, and the other is told.
  void came_back_to(std::uint32_t rank) { away_.try_emplace(rank, Away::unheard); }

 private:
  [[nodiscard]] Origin& origin(std::uint32_t rank);
  int take_notice(const FrameHead& head, std::span<const std::byte> behind) noexcept;

  Sink& sink_;
  Place place_;
  std::uint64_t token_;
  Component::Counters& counters_;
  Keeper* keeper_;
  std::optional<Closing> closing_;
  std::optional<Asked> asked_;
  Origin* last_ = nullptr;  // where the last frame came from
  enum class Away : std::uint8_t { said, unheard };
  std::unordered_map<std::uint32_t, Away> away_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Origin>> origins_;
};

}  // namespace starling::btl::net
