// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The node-wide cap on the memory of lanes, and which lanes of this process go back first. Layer:
/// plugin.
///
/// Every process sees how much memory all lanes of the node hold (parameter shm_lanes_total_bytes limits it),
/// and can close only the lanes to which it writes. It finds out which of them were used by looking at their
/// counts now and then, so that sending costs nothing for it.
///
/// Threads:   as btl::Component.
/// Ownership: borrows the endpoints; each calls opened() and closed() for its lane.
/// Units:     bytes; ages count looks.

#include <cstdint>
#include <vector>

namespace starling::shm {
class NodeSegment;
}

namespace starling::btl {

class ShmEndpoint;

class LaneCap {
 public:
  LaneCap(const shm::NodeSegment& segment, std::uint64_t total_bytes) noexcept
      : segment_(segment), total_bytes_(total_bytes) {}

  void opened(ShmEndpoint& endpoint) { lanes_.push_back(&endpoint); }
  void closed(ShmEndpoint& endpoint) noexcept;

  /// Whether `bytes` more are within the cap.
  [[nodiscard]] bool allows(std::uint64_t bytes) const noexcept;
  /// A new lane of `bytes` is needed: closes lanes that were not used since the last look, the longest unused
  /// first, until it is within the cap or none is left. Receivers give the memory back as they see it.
  void make_room(std::uint64_t bytes) noexcept;
  /// To be called ten times a second while the process waits: closes lanes that two looks found unused, while
  /// the node is above the cap.
  void look() noexcept;

 private:
  void close_unused(std::uint32_t looks, std::uint64_t wanted) noexcept;

  const shm::NodeSegment& segment_;
  std::uint64_t total_bytes_;
  std::vector<ShmEndpoint*> lanes_;
};

}  // namespace starling::btl
