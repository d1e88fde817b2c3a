// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Messages that show any mix-up, and a sink that keeps what arrives. Layer: tests.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frameworks/btl/btl.hpp"

namespace starling::test {

/// Bytes that depend on message number and place, so that any mix-up shows.
inline std::byte pattern(std::uint64_t number, std::size_t at) noexcept {
  return static_cast<std::byte>((number * 131 + at * 7 + (at >> 8)) & 0xff);
}
inline std::vector<std::byte> make_message(std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i) message[i] = pattern(number, i);
  return message;
}

/// Keeps what arrives.
class Collector final : public btl::Sink {
 public:
  struct Message {
    ProcId from;
    std::vector<std::byte> bytes;
  };
  void on_message(btl::Origin& from, std::span<const std::byte> message) noexcept override {
    if (from.cookie == nullptr) from.cookie = this;
    EXPECT_EQ(from.cookie, this);
    messages.push_back({from.proc, {message.begin(), message.end()}});
    HeldBytes* const kept = keep && from.keeper != nullptr ? from.keeper->keep(message) : nullptr;
    if (kept == nullptr) return;
    if (from.keeper->keep(messages.back().bytes) != nullptr) ADD_FAILURE() << "bytes of the sink's were kept";
    kept_.push_back({kept, message, messages.back().bytes});
    ++kept_ever;
  }
  void on_peer_lost(ProcId peer, const Error& why) noexcept override {
    lost.push_back(peer);
    why_lost.push_back(why.code);
    reasons.push_back(why.text());
  }
  bool announced(ProcId, const btl::RemoteBuffer& what, std::size_t bytes) noexcept override {
    asked.push_back(bytes);
    return what.key == kAnnounced;
  }
  /// The key of what others may get.
  static constexpr std::uint64_t kAnnounced = 42;
  std::vector<Message> messages;

  /// Keeps what it can where it lies, too.
  bool keep = false;
  std::size_t kept_ever = 0;
  void release_one() {
    if (kept_.empty()) return;
    EXPECT_EQ(kept_damaged(), "");
    kept_.front().held->release();
    kept_.erase(kept_.begin());
  }
  void release_all() {
    while (!kept_.empty()) release_one();
  }
  /// Empty: what is kept is as it came.
  [[nodiscard]] std::string kept_damaged() const {
    for (std::size_t at = 0; at < kept_.size(); ++at) {
      if (!std::equal(kept_[at].where.begin(), kept_[at].where.end(), kept_[at].came.begin()))
        return "kept message " + std::to_string(at) + " has changed before it was released";
    }
    return "";
  }
  std::vector<std::size_t> asked;
  std::vector<ProcId> lost;
  std::vector<Errc> why_lost;
  std::vector<std::string> reasons;

 private:
  struct KeptMessage {
    HeldBytes* held;
    std::span<const std::byte> where;
    std::vector<std::byte> came;
  };
  std::vector<KeptMessage> kept_;
};

inline std::span<const std::byte> bytes_of(const std::vector<std::byte>& message, std::size_t from,
                                           std::size_t count) {
  return std::span<const std::byte>(message).subspan(from, count);
}

}  // namespace starling::test
