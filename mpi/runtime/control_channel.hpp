// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the making of communicators needs of this process: messages, waits and fences. Layer: mpi.
/// docs/design/startup.md
///
/// Threads:   under the runtime's lock, which waiting gives away.
/// Ownership: everything is borrowed; the bootstrap is set before the first message can come.
/// Errors:    as bootstrap::ControlChannel.
/// Units:     bytes.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/pieces.hpp"
#include "frameworks/peer/port.hpp"
#include "mpi/runtime/fences.hpp"
#include "mpi/runtime/place.hpp"
#include "mpi/runtime/transports.hpp"
#include "mpi/runtime/waits.hpp"

namespace starling::mpi {

/// The messages that this process has sent to make communicators from groups.
struct CreationTraffic {
  struct Messages {
    std::uint64_t count = 0, bytes = 0;
  };
  Messages node;    ///< to itself and to others of its node
  Messages remote;  ///< to other nodes
};

class ControlChannel final : public bootstrap::ControlChannel, public peer::Port, private FenceWaiter {
 public:
  ControlChannel(pmi::Component& pmi, const Place& place, Waits& waits, const Transports& transports) noexcept
      : place_(place), waits_(waits), transports_(transports), fences_(pmi, *this) {}
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  /// Registers as the port for creations, once there is a front.
  [[nodiscard]] Result<void> open();
  /// Sets the bootstrap for which messages are received.
  void serve(bootstrap::Component& bootstrap) noexcept { bootstrap_ = &bootstrap; }
  [[nodiscard]] Fences& fences() noexcept { return fences_; }
  [[nodiscard]] const CreationTraffic& traffic() const noexcept { return traffic_; }

  // bootstrap::ControlChannel
  [[nodiscard]] Result<void> send(ProcId to, std::span<const std::byte> message) override;
  [[nodiscard]] Result<void> send_block(ProcId to, const bootstrap::Block& block) override;
  [[nodiscard]] Result<void> pause(std::uint64_t ns, const std::function<std::string()>& what) override;
  /// Overrides FenceWaiter::wait, too.
  [[nodiscard]] Result<void> wait(const std::function<bool()>& ready, Deadline deadline,
                                  const std::function<std::string()>& what) override;
  [[nodiscard]] Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline, const std::function<bool()>& needless) override;
  [[nodiscard]] std::uint64_t clock_ns() const noexcept override { return now_ns(); }
  [[nodiscard]] std::optional<ProcId> dead_among(const ProcList& members) noexcept override;

  // peer::Port
  [[nodiscard]] std::string_view name() const noexcept override { return "creation"; }
  void receive(peer::Peer& from, std::span<const std::byte> message) noexcept override;
  void lose(peer::Peer&) noexcept override {}  // who waits asks dead_among()

 private:
  void enter_fence(bool lasts) override { waits_.polling().sleeper().enter_fence(lasts); }
  void leave_fence() noexcept override { waits_.polling().sleeper().leave_fence(); }

  const Place& place_;
  Waits& waits_;
  const Transports& transports_;
  Fences fences_;
  bootstrap::Component* bootstrap_ = nullptr;
  bootstrap::Assembly blocks_;
  CreationTraffic traffic_;
};

}  // namespace starling::mpi
