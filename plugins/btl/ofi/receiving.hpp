// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The memory that libfabric fills with frames, and those of them that the sink keeps. Layer: plugin.
///
/// Two buffers are always posted. One that is full is posted again when nothing of it is kept; until then
/// another takes its place, up to kMost of them. Nearly there, nothing more can be kept. Where one is
/// missing, because libfabric refused it or there was no memory, refill() tries again.
/// Threads:   as btl::Component.
/// Ownership: owns the buffers; libfabric writes into those that are posted.
/// Errors:    those of refill(), to be noted; nothing is lost by them but room.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include <rdma/fabric.h>

#include "frameworks/btl/btl.hpp"

namespace starling::btl::ofi {

struct ReceiveBuffer {
  static constexpr std::size_t kBytes = 1 << 20;
  fi_context2 context{};
  std::unique_ptr<std::byte[]> bytes{new (std::nothrow) std::byte[kBytes]};  ///< null: no memory
  std::uint32_t kept = 0;  ///< messages in it that the sink keeps
  bool posted = false;
};

class Receiving final : public Keeper {
 public:
  static constexpr std::size_t kPosted = 2;
  static constexpr std::size_t kMost = 10;
  using Post = std::function<Result<void>(ReceiveBuffer&)>;

  explicit Receiving(Post post) : post_(std::move(post)) { buffers_.reserve(kMost); }
  [[nodiscard]] Result<void> start() { return refill(); }

  /// What libfabric has written into the buffer of that context is about to be delivered.
  void delivering(void* context) noexcept { current_ = find(context); }
  void delivered() noexcept { current_ = nullptr; }
  /// libfabric writes no more into the buffer of that context. Errors: as refill().
  [[nodiscard]] Result<void> full(void* context);
  /// Posts what is missing, out of the buffers of which nothing is kept or new ones. Errors: none can be had.
  [[nodiscard]] Result<void> refill();

  [[nodiscard]] void* keep() noexcept override;
  void release(void* kept) noexcept override;

 private:
  [[nodiscard]] ReceiveBuffer* find(void* context) noexcept;
  [[nodiscard]] ReceiveBuffer* spare() noexcept;
  [[nodiscard]] std::size_t posted() const noexcept;

  Post post_;
  std::vector<std::unique_ptr<ReceiveBuffer>> buffers_;
  ReceiveBuffer* current_ = nullptr;
};

}  // namespace starling::btl::ofi
