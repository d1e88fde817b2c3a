// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Where this process is: its rank in the world, its node, its seat there, the memory that the node's
/// processes share. Layer: mpi. docs/design/startup.md
///
/// Threads:   under the runtime's lock; find() and attach() once, before anything waits.
/// Ownership: owns the segment and who gives it to others; process manager and environment are borrowed.
/// Errors:    a map without this process; a segment that cannot be had.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/node_map.hpp"
#include "core/proc_list.hpp"
#include "core/result.hpp"
#include "core/worlds.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "frameworks/select.hpp"
#include "frameworks/shm/choose.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "mpi/runtime/environment.hpp"

namespace starling::mpi {

class Place {
 public:
  Place(Environment& environment, pmi::Component& pmi);
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] ProcId self() const noexcept { return self_; }
  /// The worlds that this process knows; its own is the first.
  [[nodiscard]] const Worlds& worlds() const noexcept { return worlds_; }
  [[nodiscard]] std::uint32_t world_size() const noexcept { return world_size_; }
  /// Who of the own world is on which node. While this process counts as alone: each process by itself.
  [[nodiscard]] const NodeMap& nodes() const noexcept { return worlds_.own().nodes; }
  /// Ranks of the world on this node, ascending; the own one is at local_rank().
  [[nodiscard]] const std::vector<std::uint32_t>& node_ranks() const noexcept { return node_ranks_; }
  [[nodiscard]] std::uint32_t local_rank() const noexcept { return local_rank_; }
  [[nodiscard]] bool on_node(ProcId proc) const noexcept;
  /// Whether the node has more ranks than cores: polling then takes time from those who are waited for.
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }

  /// The memory that the processes of this node share; another one after move().
  [[nodiscard]] shm::NodeSegment& segment() const noexcept { return *segment_; }
  [[nodiscard]] const std::unique_ptr<shm::NodeSegment>& segment_pointer() const noexcept { return segment_; }
  /// The one that mpiexec made, if another is used: mpiexec tells deaths on other nodes there. Else null.
  [[nodiscard]] const shm::NodeSegment* launchers_segment() const noexcept {
    return launchers_segment_.get();
  }
  /// How this process got it, and which components were tried before, with their reasons.
  [[nodiscard]] const std::string& shared_memory() const noexcept { return shared_memory_; }
  [[nodiscard]] const std::vector<std::string>& shared_memory_refused() const noexcept {
    return shared_memory_refused_;
  }
  /// One of these processes that has died on this node, as mpiexec marks them. Who has ended in order is not
  /// meant.
  [[nodiscard]] std::optional<ProcId> dead_among(const ProcList& members) const noexcept;
  /// All of them.
  [[nodiscard]] std::vector<ProcId> all_dead_among(const ProcList& members) const;
  /// Who of the node has not come, as a hint at why others wait; empty: all are there.
  [[nodiscard]] std::string absent_processes() const;

  /// Where processes of a node find shared memory with a name; empty: no admitted component of shm makes any.
  [[nodiscard]] std::string meeting_place() const;

  /// Asks the process manager. Where it does not say, this process counts as alone() on its node.
  [[nodiscard]] Result<void> find();
  [[nodiscard]] bool alone() const noexcept { return alone_; }
  /// Makes or finds the segment.
  [[nodiscard]] Result<void> attach();
  /// From being alone to the node that this map says. After an Error everything is as before.
  [[nodiscard]] Result<void> move(NodeMap nodes);
  /// Nobody looks for the node's segment any more.
  void segment_complete() noexcept;

  /// At the end of the process: no name of shared memory stays; the memory itself is left alone.
  void drop_names() noexcept;
  /// As drop_names(), after this process has left the segment and unmapped it.
  void close() noexcept;

 private:
  [[nodiscard]] Result<void> take_seat();
  [[nodiscard]] Result<shm::Attached> lone_segment(const shm::SegmentSpec& spec);
  [[nodiscard]] Result<shm::Attached> choose_segment(const shm::SegmentSpec& spec, Deadline deadline);
  void open_launchers_segment(const shm::SegmentSpec& spec, const shm::Geometry& geometry);
  [[nodiscard]] bool is_absent(std::uint32_t local_rank) const noexcept;
  [[nodiscard]] bool is_dead(std::uint32_t local_rank) const noexcept;
  [[nodiscard]] bool everybody_attached() noexcept;

  Environment& environment_;
  pmi::Component& pmi_;
  ProcId self_;
  Worlds worlds_;  // the bootstrap reads the own one's node map
  std::uint32_t world_size_ = 1;
  std::uint32_t local_rank_ = 0;
  bool alone_ = false;
  bool crowded_ = false;
  std::vector<std::uint32_t> node_ranks_;
  std::string shared_memory_;
  std::vector<std::string> shared_memory_refused_;
  // Destroyed in reverse.
  plugin::Index::Handle<shm::Framework> shm_;
  std::unique_ptr<shm::SegmentServer> segment_segment_server_;
  std::unique_ptr<shm::NodeSegment> lone_segment_;  // that of before; threads may have slept on it
  std::unique_ptr<shm::NodeSegment> segment_;
  std::unique_ptr<shm::NodeSegment> launchers_segment_;
};

}  // namespace starling::mpi
