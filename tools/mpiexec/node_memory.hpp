// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  mpiexec's side of the nodes' shared segments: makes them, marks the dead, asks what a rank waits
/// for. Layer: tools.
///
/// Threads: one. Ownership: keeps descriptor and mapping of every (virtual) node's segment until the job has
/// ended.
/// Errors:  where no segment can be made, ranks get none and find another way; reason() says why.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "params/registry.hpp"
#include "tools/mpiexec/placement.hpp"

namespace starling::mpiexec {

class NodeMemory {
 public:
  /// One segment per node of the layout, with the geometry that the ranks will compute from the same
  /// parameters.
  NodeMemory(const params::Registry& params, const std::string& job, const JobLayout& layout);

  /// Descriptor of a node's segment, or -1.
  [[nodiscard]] int fd(std::uint32_t node) const noexcept;
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

  /// Marks a process as ended, so that nobody waits for it in shared memory. A death wakes its node at once,
  /// and the others, where networks show the end of a connection at best; ends in order are told together, by
  /// tell_ends() at this deadline. `left`: whether one has left MPI in order that never was in this memory
  /// (shm=posix).
  void mark_exited(std::uint32_t rank, std::uint32_t node, std::uint32_t local_rank, bool left) noexcept;
  [[nodiscard]] Deadline tell_deadline() const noexcept { return tell_; }
  void tell_ends() noexcept;

  /// Asks every attached process to write down what it waits for; answer() reads it some time later.
  void ask(std::uint32_t node) noexcept;
  [[nodiscard]] std::optional<std::string> answer(std::uint32_t node, std::uint32_t local_rank);

 private:
  void tell_others(std::uint32_t rank, std::uint32_t node) noexcept;
  struct Node {
    int fd = -1;  ///< owned by the segment
    std::optional<shm::NodeSegment> segment;
    std::vector<std::uint32_t> asked;  ///< report_wanted by local rank
    bool to_tell = false;              ///< somebody has ended in order
  };
  static Result<Node> make(const shm::Geometry& geometry, const std::string& job);
  std::vector<Node> nodes_;
  std::string reason_;
  Deadline tell_;
};

}  // namespace starling::mpiexec
