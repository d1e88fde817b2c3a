// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The node's segment as a memfd: inherited from mpiexec, or made here and handed over. Layer: plugin.
///
/// Handing over is the framework's (frameworks/shm/election.hpp): this component only makes what is handed.
///
/// Threads: as shm::Component. Ownership: the inherited descriptor stays open and inheritable for programs
/// that this process starts; the segment gets a duplicate of its own.

#include <memory>
#include <string>

#include "frameworks/shm/shm.hpp"

namespace starling::shm {

class MemfdComponent final : public Component {
 public:
  /// `inherited` is the descriptor that mpiexec named, or -1.
  MemfdComponent(params::Registry& params, int inherited) noexcept : params_(params), inherited_(inherited) {}

  /// The inherited segment.
  [[nodiscard]] Result<Segment> find(const SegmentSpec& spec, Deadline deadline) override;
  [[nodiscard]] Result<Segment> attach(const SegmentSpec& spec, Deadline deadline) override;
  [[nodiscard]] bool has_name() const noexcept override { return false; }
  [[nodiscard]] std::string meeting_place() const override { return {}; }
  void all_attached() noexcept override {}

 private:
  params::Registry& params_;
  int inherited_;
};

[[nodiscard]] Result<std::unique_ptr<Component>> create_memfd_component(const Args& args);

}  // namespace starling::shm
