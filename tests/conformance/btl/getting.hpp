// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A get that a test has asked for. Layer: tests.

#include <cstdint>
#include <vector>

#include "tests/conformance/btl/collector.hpp"

namespace starling::test {

/// A get with what was said of its end.
class Getting : public btl::Completion {
 public:
  explicit Getting(std::size_t bytes) : source_(make_message(bytes, bytes)), target_(bytes) {
    done = [](btl::Completion* self, bool good) noexcept {
      auto& getting = static_cast<Getting&>(*self);
      ++getting.times_told;
      getting.ok = good;
    };
  }
  Post start(btl::Endpoint& from, std::uint64_t key = Collector::kAnnounced) {
    return from.get({reinterpret_cast<std::uintptr_t>(source_.data()), key}, target_, this);
  }
  [[nodiscard]] bool ended() const { return times_told != 0; }
  [[nodiscard]] bool copied() const { return target_ == source_; }
  [[nodiscard]] bool right() const { return ok && copied(); }
  [[nodiscard]] bool untouched() const { return target_ == std::vector<std::byte>(target_.size()); }
  int times_told = 0;
  bool ok = false;

 private:
  std::vector<std::byte> source_, target_;
};

}  // namespace starling::test
