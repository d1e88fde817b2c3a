// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The sending side towards one process of the node. Layer: plugin.
///
/// The first messages go through the peer's ingress; then a lane is made, announced through the ingress, and
/// used from there on: the announcement's place in the ingress keeps the order.
///
/// Threads:   as btl::Endpoint.
/// Ownership: the lane's extent belongs to the receiver once it has been announced; what a lane was replaced
///            by or closed with tells it to release the extent.
/// Errors:    without room for a lane small messages stay in the ingress and large ones are `again`; when
///            that lasts for shm_memory_wait seconds the peer is reported as lost, once, with the cause.

#include <cstdint>
#include <optional>

#include "core/atomics.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "plugins/btl/shm/activity.hpp"
#include "plugins/btl/shm/ingress.hpp"
#include "plugins/btl/shm/kernel_remote.hpp"
#include "plugins/btl/shm/lane.hpp"
#include "plugins/btl/shm/loans.hpp"
#include "plugins/btl/shm/shared.hpp"

namespace starling::btl {

class ShmEndpoint final : public Endpoint, private Writes {
 public:
  ShmEndpoint(Shared& shared, ProcId peer, std::uint32_t local_rank) noexcept;
  ShmEndpoint(const ShmEndpoint&) = delete;
  ShmEndpoint& operator=(const ShmEndpoint&) = delete;
  ~ShmEndpoint() override;

  Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept override;
  Post send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                 Completion*) noexcept override {
    return send(header, payload);
  }
  std::byte* reserve(std::size_t bytes) noexcept override;
  void commit(std::size_t bytes) noexcept override;
  [[nodiscard]] bool await_room() noexcept override;
  Post get(const RemoteBuffer& from, std::span<std::byte> to, Completion* completion) noexcept override;
  [[nodiscard]] bool can_get(const RemoteBuffer& from) noexcept override;
  [[nodiscard]] Loans* loans() noexcept override { return shared_.settings.cma ? &loans_ : nullptr; }
  [[nodiscard]] Writes* writes() noexcept override { return shared_.written.on() ? this : nullptr; }
  [[nodiscard]] CopyWay copies() noexcept override {
    return shared_.mapped.on() ? CopyWay{&shared_.copies, local_rank_} : CopyWay{};
  }
  [[nodiscard]] Remote* remote() noexcept override { return can_read() ? &remote_ : nullptr; }

  /// The process waits: takes the next record's lines, as far as they are free.
  void fetch_next() noexcept;
  [[nodiscard]] ProcId peer() const noexcept { return peer_; }
  [[nodiscard]] std::uint32_t local_rank() const noexcept { return local_rank_; }
  /// Size of the lane now; 0: none.
  [[nodiscard]] std::uint64_t lane_bytes() const noexcept { return has_lane_ ? extent_.bytes : 0; }
  /// Notes whether the lane was used since the last look.
  void look_at_lane() noexcept;
  /// How many looks in a row have found the lane unused.
  [[nodiscard]] std::uint32_t unused_looks() const noexcept { return unused_looks_; }
  /// Gives the lane back: the next messages go through the ingress again.
  void close_lane() noexcept;
  /// Reports the peer as lost, unless that has been done.
  void lose(Errc code, std::string why);

 private:
  using Writer = LaneWriter<StdAtomics, MappedRing>;
  using Producer = IngressProducer<StdAtomics, MappedIngress>;

  [[nodiscard]] bool can_read() noexcept;
  [[nodiscard]] std::byte* find(std::uint64_t address, std::size_t bytes) noexcept override;
  [[nodiscard]] bool may_copy() noexcept override { return can_read(); }
  [[nodiscard]] bool copy(std::uint64_t address, std::span<const std::byte> from) noexcept override;
  [[nodiscard]] Permits own_permits() noexcept override {
    return shared_.ingress_of(shared_.place.local_rank).header().permits;
  }
  [[nodiscard]] Permits its_permits() noexcept override {
    return shared_.ingress_of(local_rank_).header().permits;
  }
  std::byte* reserve_first(std::size_t bytes) noexcept;
  std::byte* reserve_in_ingress(IngressKind kind) noexcept;
  [[nodiscard]] std::uint32_t make_room(std::uint32_t cells) noexcept;
  [[nodiscard]] bool open_lane(std::size_t bytes) noexcept;
  [[nodiscard]] bool announce_lane() noexcept;
  [[nodiscard]] bool grow(std::uint64_t bytes, bool needed) noexcept;
  [[nodiscard]] std::optional<LaneExtent> new_extent(std::uint64_t bytes, bool needed) noexcept;
  bool widen() noexcept;
  void starved(const Error& why) noexcept;
  void notify() noexcept;
  void answer(std::uint32_t attention) noexcept;

  // What a send through the lane touches is first.
  Shared& shared_;
  Writer lane_;
  shm::Doorbell<StdAtomics> bell_;
  bool has_lane_ = false;
  bool in_ingress_ = false;  // where the reserved message is
  std::uint32_t reserved_cells_ = 0;
  std::uint32_t fetched_ = 0;  // cells of the next record whose lines were taken ahead
  std::uint64_t bulk_ = 0;     // cells of longer messages since the lane has grown

  Producer producer_;
  Producer::Claim claim_;
  LaneExtent extent_;  // of the lane, also while it waits to be announced; bytes == 0: none
  std::uint32_t local_rank_;
  std::uint32_t sent_ = 0;  // through the ingress
  std::uint32_t unused_looks_ = 0;
  std::uint64_t written_at_look_ = 0;
  ProcId peer_;
  std::uint64_t starved_since_ns_ = 0;
  std::uint64_t starved_last_ns_ = 0;
  bool lost_ = false;
  enum class Get : std::uint8_t { unknown, works, refused } get_ = Get::unknown;
  PipeLoans loans_;      // where processes of the node may read each other
  KernelRemote remote_;  // there too
};

}  // namespace starling::btl
