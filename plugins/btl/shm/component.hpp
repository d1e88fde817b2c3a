// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Messages between the processes of one node. Layer: plugin.
///
/// Threads:   as btl::Component.
/// Ownership: owns endpoints and incoming streams; borrows the node segment, which outlives it.
/// Ordering:  per pair, across ingress, lane and larger lane.
/// Errors:    a process that mpiexec reports ended or whose pid is gone is reported to the sink once, also if
///            it was never spoken to.

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plugins/btl/shm/endpoint.hpp"
#include "plugins/btl/shm/shared.hpp"

namespace starling::btl {

/// What one process of the node sends to this one.
struct Incoming {
  Origin origin;  // its address is what the sink knows the stream by
  LaneReader<StdAtomics, MappedRing> lane;
  LaneExtent extent;
  std::uint32_t local_rank = 0;
  bool open = false;                // there is a lane
  std::uint32_t stretch_bytes = 0;  // of long records (cleaning.hpp)
  std::uint64_t stretch_began_ns = 0;
};

class ShmComponent final : public Component {
 public:
  explicit ShmComponent(const Args& args);
  ~ShmComponent() override;
  ShmComponent(const ShmComponent&) = delete;
  ShmComponent& operator=(const ShmComponent&) = delete;

  /// Reserves the own area and lets others read the nonce.
  [[nodiscard]] Result<void> start();

  [[nodiscard]] std::string_view name() const noexcept override { return "shm"; }
  [[nodiscard]] const Limits& limits() const noexcept override { return shared_.limits; }
  [[nodiscard]] const Needs& needs() const noexcept override { return needs_; }
  [[nodiscard]] std::vector<std::byte> address() const override { return {}; }
  [[nodiscard]] Result<void> reaches(ProcId peer) const override;
  [[nodiscard]] Result<Endpoint*> connect(ProcId peer, std::span<const std::byte> address) override;
  [[nodiscard]] Result<std::unique_ptr<Exposed>> expose(std::span<std::byte> memory) override;
  int progress() noexcept override;
  [[nodiscard]] bool begin_sleep() noexcept override;
  void end_sleep() noexcept override { shared_.segment.cancel_sleep(); }
  [[nodiscard]] int wait_fd() const noexcept override { return -1; }
  [[nodiscard]] bool drained() const noexcept override { return true; }
  void set_idle(bool) noexcept override {}  // the node segment knows (NodeSegment::leave)
  [[nodiscard]] Counters counters() const override;

  [[nodiscard]] std::size_t open_lanes() const noexcept { return lanes_.size(); }
  [[nodiscard]] bool uses_activity() const noexcept { return wide_; }

 private:
  [[nodiscard]] std::int64_t local_rank_of(ProcId peer) const noexcept;
  [[nodiscard]] Incoming& incoming(std::uint32_t local_rank, std::uint32_t world_rank);

  int drain(Incoming& from, int most) noexcept;
  void tidy() noexcept;
  void ring_for_room(Incoming& from) noexcept;
  void count_long(Incoming& from, std::uint32_t bytes) noexcept;
  void end_stretch(Incoming& from) noexcept;
  void switch_lane(Incoming& from) noexcept;
  void open_lane(Incoming& from, const LaneExtent& extent) noexcept;
  void close_lane(Incoming& from) noexcept;
  int drain_all() noexcept;
  int drain_marked() noexcept;
  int drain_ingress() noexcept;
  void take_ingress_cell(std::uint32_t local_rank, const IngressCell& cell) noexcept;
  [[nodiscard]] bool claimer_died(std::uint32_t local_rank) noexcept;
  void forget_closed() noexcept;
  void choose_width() noexcept;
  void mark_own(const Incoming& from) noexcept;

  int idle() noexcept;
  void look_around() noexcept;
  [[nodiscard]] std::optional<Errc> end_of(std::uint32_t local_rank, bool ask_the_system) noexcept;
  [[nodiscard]] std::optional<ProcId> proc_of(std::uint32_t local_rank) const noexcept;
  void look_for_dead(bool ask_the_system) noexcept;

  Shared shared_;
  Needs needs_;
  Cleaning cleaning_;
  IngressConsumer<StdAtomics, MappedIngress> ingress_;
  Incoming* hot_ = nullptr;       // where the last message came from
  std::vector<Incoming*> lanes_;  // those with a lane
  bool wide_ = false;             // too many lanes: activity words are polled
  bool closed_some_ = false;
  bool untidy_ = false;  // cells were read and perhaps not given back
  std::uint32_t streak_ = 0;
  std::uint32_t idle_polls_ = 0;
  std::uint32_t claim_polls_ = 0;
  std::uint32_t ends_seen_ = 0;  // NodeSegment::ends() at the last look
  std::uint64_t next_look_ns_ = 0;
  std::uint64_t next_long_look_ns_ = 0;
  std::unique_ptr<std::uint64_t> nonce_;  // its address is published: it must stay where it is
  std::unordered_map<std::uint32_t, std::unique_ptr<ShmEndpoint>> endpoints_;  // by local rank
  std::unordered_map<std::uint32_t, std::unique_ptr<Incoming>> incoming_;
  std::unordered_map<std::uint32_t, bool> lost_;
};

[[nodiscard]] Result<std::unique_ptr<Component>> create_shm_component(const Args& args);

}  // namespace starling::btl
