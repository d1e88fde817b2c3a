// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The memory that libfabric fills with frames, and those of them that the sink keeps. Layer: plugin.
///
/// Two buffers are always posted. One that is full is posted again when nothing of it is kept; until then
/// another takes its place, up to kMost of them. Nearly there, nothing more can be kept. Where one is
/// missing, because libfabric refused it or there was no memory, refill() tries again.
///
/// A buffer takes frames of several peers, one slice each. Some providers (net and tcp, without ofi_rxm) say
/// that a buffer is full when its last slice begins; slices before it may still be written then, by peers
/// that are slow. So the lengths of what has come are added up, and a buffer is used again only when they
/// reach its end. One with a slice that failed is not used again, as nobody tells that slice's length.
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
  ReceiveBuffer* next = nullptr;                                             ///< of those not used again
  std::size_t filled = 0;  ///< bytes of slices that have ended
  std::size_t end = 0;     ///< of its last slice; 0: not known
  std::uint32_t kept = 0;  ///< what the sink keeps of it
  bool posted = false;     ///< takes new slices
  bool writing = false;    ///< full, and a slice has not ended
  bool broken = false;     ///< a slice has failed
};

class Receiving final : public Keeper {
 public:
  static constexpr std::size_t kPosted = 2;
  static constexpr std::size_t kMost = 10;
  static constexpr std::size_t kSpares = 2;  ///< that wait for their next turn; more are given back
  static constexpr std::size_t kRoom = 64;   ///< buffers at most, those that slow peers still fill included
  using Post = std::function<Result<void>(ReceiveBuffer&)>;
  /// Whether a buffer is called full while slices of it are still written.
  enum class Slices : std::uint8_t { ended, may_go_on };

  explicit Receiving(Post post, Slices slices = Slices::ended) : post_(std::move(post)), slices_(slices) {
    buffers_.reserve(kRoom);
  }
  /// libfabric has let go of all of them.
  ~Receiving();
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;
  [[nodiscard]] Result<void> start() { return refill(); }

  /// What libfabric has written into the buffer of that context is about to be delivered.
  void delivering(void* context) noexcept { current_ = find(context); }
  /// It has been, `bytes` of it. Errors: as refill().
  [[nodiscard]] Result<void> delivered(std::size_t bytes);
  /// The buffer of that context takes nothing more; `end`: of its last slice, null if libfabric does not say.
  /// Errors: as refill().
  [[nodiscard]] Result<void> full(void* context, const std::byte* end);
  /// A slice of that buffer has failed, the last one or not. Errors: as refill().
  [[nodiscard]] Result<void> failed(void* context, bool last);
  /// Posts what is missing, out of the buffers of which nothing is kept or new ones. Errors: none can be had.
  [[nodiscard]] Result<void> refill();

  [[nodiscard]] HeldBytes* keep(std::span<const std::byte> bytes) noexcept override;

 private:
  friend struct ReceiveBuffer;
  void released(ReceiveBuffer& buffer) noexcept;
  [[nodiscard]] Result<void> let_go(ReceiveBuffer& buffer);
  [[nodiscard]] Result<void> put_away(ReceiveBuffer& buffer);
  [[nodiscard]] ReceiveBuffer* find(void* context) noexcept;
  [[nodiscard]] ReceiveBuffer* spare() noexcept;
  [[nodiscard]] std::size_t posted() const noexcept;

  Post post_;
  Slices slices_;
  ReceiveBuffer* put_away_ = nullptr;  // not used again; until the end, somebody may write into them
  std::vector<std::unique_ptr<ReceiveBuffer>> buffers_;
  ReceiveBuffer* current_ = nullptr;
};

}  // namespace starling::btl::ofi
