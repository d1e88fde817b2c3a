// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The memory that libfabric fills with frames, and those of them that the sink keeps. Layer: plugin.
///
/// Two buffers are always posted. One that is full is posted again when nothing of it is kept; until then
/// another takes its place, up to kMost of them. Nearly there, nothing more can be kept. Where one is
/// missing, because libfabric refused it or there was no memory, refill() tries again.
/// Threads:   as btl::Component.
/// Ownership: owns the buffers; libfabric writes into those that are posted. At its end those of which
///            something is kept stay behind, and end with the last release.
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

class Receiving;

struct ReceiveBuffer final : HeldBytes {
  static constexpr std::size_t kBytes = 1 << 20;
  explicit ReceiveBuffer(Receiving& of) noexcept : owner(&of) {}
  void release() noexcept override;

  fi_context2 context{};
  std::unique_ptr<std::byte[]> bytes{new (std::nothrow) std::byte[kBytes]};  ///< null: no memory
  Receiving* owner;                                                          ///< null: it has ended
  std::uint32_t kept = 0;                                                    ///< what the sink keeps of it
  bool posted = false;
};

class Receiving final : public Keeper {
 public:
  static constexpr std::size_t kPosted = 2;
  static constexpr std::size_t kMost = 10;
  static constexpr std::size_t kSpares = 2;  ///< that wait for their next turn; more are given back
  using Post = std::function<Result<void>(ReceiveBuffer&)>;

  explicit Receiving(Post post) : post_(std::move(post)) { buffers_.reserve(kMost); }
  /// libfabric has let go of all of them.
  ~Receiving();
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;
  [[nodiscard]] Result<void> start() { return refill(); }

  /// What libfabric has written into the buffer of that context is about to be delivered.
  void delivering(void* context) noexcept { current_ = find(context); }
  void delivered() noexcept { current_ = nullptr; }
  /// libfabric writes no more into the buffer of that context. Errors: as refill().
  [[nodiscard]] Result<void> full(void* context);
  /// Posts what is missing, out of the buffers of which nothing is kept or new ones. Errors: none can be had.
  [[nodiscard]] Result<void> refill();

  [[nodiscard]] HeldBytes* keep(std::span<const std::byte> bytes) noexcept override;

 private:
  friend struct ReceiveBuffer;
  void released(ReceiveBuffer& buffer) noexcept;
  [[nodiscard]] ReceiveBuffer* find(void* context) noexcept;
  [[nodiscard]] ReceiveBuffer* spare() noexcept;
  [[nodiscard]] std::size_t posted() const noexcept;

  Post post_;
  std::vector<std::unique_ptr<ReceiveBuffer>> buffers_;
  ReceiveBuffer* current_ = nullptr;
};

}  // namespace starling::btl::ofi
