// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Frames of UCX's that the sink keeps something of. Layer: plugin.
///
/// Where UCX's transport gives its memory away (adapters do, tcp fills it again at once) a frame may stay:
/// its callback then says that it goes on, and the frame is released later. At most kMost of them, so that
/// the transport never runs short.
/// Threads:   as btl::Component.
/// Ownership: the memory is UCX's, of its worker, which stays behind with this while something is kept.
/// Errors:    none; what cannot be kept is refused.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "frameworks/btl/btl.hpp"
#include "plugins/btl/ucx/library.hpp"
#include "plugins/btl/ucx/setup.hpp"

namespace starling::btl::ucx {

class Keeping final : public Keeper {
 public:
  static constexpr std::size_t kMost = 64;  ///< frames; 4 MiB and a bit

  Keeping(const Library& library, ucp_worker_h worker) noexcept;
  Keeping(const Keeping&) = delete;
  Keeping& operator=(const Keeping&) = delete;

  /// UCX has handed over this frame, whose messages are about to be delivered; `stays`: UCX would leave it.
  void delivering(void* data, std::size_t bytes, bool stays) noexcept;
  /// Its messages have been delivered. True: something of it is kept, and UCX has to leave it.
  [[nodiscard]] bool delivered() noexcept;
  /// The transport ends. Where something is kept, both go to the keeping itself, until the last release.
  static void leave(std::unique_ptr<Keeping>&& self, Worker&& worker) noexcept;

  [[nodiscard]] HeldBytes* keep(std::span<const std::byte> bytes) noexcept override;

 private:
  struct Frame final : HeldBytes {
    void release() noexcept override {
      if (--kept == 0) of->released(*this);
    }
    Keeping* of = nullptr;
    Frame* next_free = nullptr;
    void* data = nullptr;
    std::uint32_t kept = 0;  ///< what the sink keeps of it
  };
  void released(Frame& frame) noexcept;
  void put_back(Frame& frame) noexcept;

  const Library& library_;
  ucp_worker_h worker_;
  std::array<Frame, kMost> frames_;
  Frame* free_ = nullptr;
  std::size_t out_ = 0;
  std::optional<Worker> left_;          ///< once the transport has ended
  std::span<const std::byte> current_;  ///< empty: none, or it does not stay
  Frame* entered_ = nullptr;            ///< of the current one, once something of it has been kept
};

}  // namespace starling::btl::ucx
