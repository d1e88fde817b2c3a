// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A process's access to what it has exposed itself: copies and processor atomics. Layer: plugin.
///
/// Threads: as btl::Remote. Errors: none. Units: bytes.

#include "frameworks/btl/btl.hpp"

namespace starling::btl {

class OwnMemory final : public Remote {
 public:
  explicit OwnMemory(Component::Counters& counters) noexcept : counters_(counters) {}

  [[nodiscard]] const Facts& facts() const noexcept override { return facts_; }
  [[nodiscard]] Result<std::unique_ptr<Region>> open(std::span<const std::byte> key) override;
  Post put(Region& to, std::uint64_t offset, std::span<const std::byte> from,
           Completion* completion) noexcept override;
  Post get(Region& from, std::uint64_t offset, std::span<std::byte> to,
           Completion* completion) noexcept override;
  Post atomic(Region& at, std::uint64_t offset, const AtomicChange& change,
              Completion* completion) noexcept override;
  Post flush(Completion*) noexcept override { return Post::done; }

 private:
  Component::Counters& counters_;
  Facts facts_{.access_max_bytes = SIZE_MAX, .passive = true, .ordered = true, .with_processors = true};
};

}  // namespace starling::btl
