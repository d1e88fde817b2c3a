// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What is known of a peer that nothing leads to any more: has it left, has it died, or neither?
/// Layer: framework, for the network btls.
///
/// A network shows at best that a connection broke. The launcher knows of ends: Starling's mpiexec tells
/// those of other nodes through the own node's segment, and others mostly end the whole job a moment
/// later. So who sees a connection break waits for a moment before it says that nobody knows.
///
/// Threads:   as btl::Component. Ownership: segment and arrivals outlive it.
/// Units:     nanoseconds.

#include <cstdint>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "frameworks/btl/net/arrivals.hpp"
#include "frameworks/btl/net/doubt.hpp"
#include "frameworks/btl/net/link.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::btl::net {

class Ends {
 public:
  /// `segment` null: no launcher tells.
  Ends(const shm::NodeSegment* segment, const Arrivals& arrivals) : segment_(segment), arrivals_(arrivals) {}

  /// Loses the peers whose death has been told; a moment later, so that what they had sent can arrive. Cheap
  /// if there is nothing new. `endpoints`: the plugin's, by rank; each has died().
  template <class EndpointsByRank>
  void look(const EndpointsByRank& endpoints, const Links& links, const char* transport) noexcept {
    if (segment_ == nullptr || segment_->far_deaths() == taken_) [[likely]]
      return;
    while (const auto rank = take()) {
      if (const auto found = endpoints.find(*rank); found != endpoints.end()) {
        if (!found->second->lost()) found->second->died(kDied);
      } else {
        links.sink.on_peer_lost({links.place.self.world, *rank}, {Errc::peer_lost, transport, kDied});
      }
    }
  }

  struct Verdict {
    Errc code = Errc::unreachable;  ///< or peer_left, peer_lost
    std::string text;
    bool sure = false;  ///< else somebody listens there
  };
  /// After a connection broke. Waits for answers for a moment, and for one second in the life of a process.
  [[nodiscard]] Verdict after_break(const Way& way, bool had_connection) noexcept;
  /// Of a peer that is given up for silence.
  [[nodiscard]] Errc code_of(std::uint32_t rank) const noexcept {
    return arrivals_.end_of(rank) == Errc::peer_left ? Errc::peer_left : Errc::unreachable;
  }

 private:
  static constexpr const char* kDied = "the process has ended without leaving MPI";
  [[nodiscard]] std::optional<std::uint32_t> take() noexcept;
  [[nodiscard]] bool hear(std::uint32_t rank, std::uint64_t limit_ns) const noexcept;

  const shm::NodeSegment* segment_;
  const Arrivals& arrivals_;
  std::uint32_t noted_ = 0;  // number of ends told when noted_ns_ was taken
  std::uint64_t noted_ns_ = 0;
  std::uint32_t taken_ = 0;
  std::uint64_t asking_ns_ = 0;  // spent in after_break()
};

}  // namespace starling::btl::net
