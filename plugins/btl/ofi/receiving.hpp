// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The memory that libfabric fills with frames, and those of them that the sink keeps. Layer: plugin.
///
/// Two buffers are always posted. One that is full is posted again when nothing of it is kept; until then
/// another takes its place, up to kMost of them. Nearly there, nothing more can be kept.
/// Threads:   as btl::Component.
/// Ownership: owns the buffers; libfabric writes into those that are posted.
/// Errors:    a buffer that cannot be posted is out of use, and noted.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <rdma/fabric.h>

#include "frameworks/btl/btl.hpp"

namespace starling::btl::ofi {

struct ReceiveBuffer {
  static constexpr std::size_t kBytes = 1 << 20;
  fi_context2 context{};
  std::unique_ptr<std::byte[]> bytes = std::make_unique<std::byte[]>(kBytes);
  std::uint32_t kept = 0;  ///< messages in it that the sink keeps
  bool posted = false;
};

class Receiving final : public Keeper {
 public:
  static constexpr std::size_t kPosted = 2;
  static constexpr std::size_t kMost = 10;
  using Post = std::function<Result<void>(ReceiveBuffer&)>;

  explicit Receiving(Post post) : post_(std::move(post)) {}
  [[nodiscard]] Result<void> start();

  /// What libfabric has written into the buffer of that context is about to be delivered.
  void delivering(void* context) noexcept { current_ = find(context); }
  void delivered() noexcept { current_ = nullptr; }
  /// libfabric writes no more into the buffer of that context. Errors: there is none to post in its place.
  [[nodiscard]] Result<void> full(void* context);

  [[nodiscard]] void* keep() noexcept override;
  void release(void* kept) noexcept override;

 private:
  [[nodiscard]] ReceiveBuffer* find(void* context) noexcept;
  [[nodiscard]] Result<void> post(ReceiveBuffer& buffer);
  [[nodiscard]] std::size_t posted() const noexcept;

  Post post_;
  std::vector<std::unique_ptr<ReceiveBuffer>> buffers_;
  ReceiveBuffer* current_ = nullptr;
};

}  // namespace starling::btl::ofi
