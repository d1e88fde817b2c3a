// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Exposed memory of another process of the node: the kernel copies. Layer: plugin.
///
/// Threads: as btl::Remote. Ownership: none. Errors: what the kernel refuses ends with ok = false, and is
/// noted. Units: bytes.

#include "frameworks/btl/btl.hpp"

namespace starling::btl {

struct Shared;

class KernelRemote final : public Remote {
 public:
  KernelRemote(Shared& shared, std::uint32_t local_rank) noexcept
      : shared_(shared), local_rank_(local_rank) {}

  [[nodiscard]] const Facts& facts() const noexcept override;
  [[nodiscard]] Result<std::unique_ptr<Region>> open(std::span<const std::byte> key) override;
  Post put(Region& to, std::uint64_t offset, std::span<const std::byte> from,
           Completion* completion) noexcept override;
  Post get(Region& from, std::uint64_t offset, std::span<std::byte> to,
           Completion* completion) noexcept override;
  Post atomic(Region& at, std::uint64_t offset, const AtomicChange& change,
              Completion* completion) noexcept override;
  Post flush(Completion*) noexcept override { return Post::done; }

 private:
  [[nodiscard]] Post ended(int error, const char* call, Completion* completion) noexcept;

  Shared& shared_;
  std::uint32_t local_rank_;
};

}  // namespace starling::btl
