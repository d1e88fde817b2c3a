// SPDX-License-Identifier: BSD-3-Clause
// The bootstrap's messages, waits and fences. Layer: mpi.

#include "mpi/runtime/control_channel.hpp"

#include <array>
#include <utility>

namespace starling::mpi {
namespace {

constexpr auto kCreation = static_cast<std::uint8_t>(peer::wire::Kind::creation);

}  // namespace

Result<void> ControlChannel::open() {
  constexpr std::array kKinds{peer::KindFacts{kCreation}};
  return waits_.polling().peers().add(*this, kKinds);
}

Result<void> ControlChannel::send(ProcId to, std::span<const std::byte> message) {
  auto& sent = place_.on_node(to) ? traffic_.node : traffic_.remote;
  ++sent.count;
  sent.bytes += message.size();
  return waits_.polling().peers().send(to, kCreation, message);
}

Result<void> ControlChannel::send_block(ProcId to, const bootstrap::Block& block) {
  const bool counts =
      block.kind != bootstrap::BlockKind::question && block.kind != bootstrap::BlockKind::answer;
  return bootstrap::send_pieces(
      block, place_.on_node(to) ? bootstrap::kNodeMessageBytes : transports_.network_message_bytes(),
      [&](std::span<const std::byte> message) {
        return counts ? send(to, message) : waits_.polling().peers().send(to, kCreation, message);
      });
}

void ControlChannel::receive(peer::Peer& from, std::span<const std::byte> message) noexcept {
  const auto payload = waits_.polling().peers().payload(from, message);
  if (!payload) return;
  if (!bootstrap::is_piece(*payload)) {
    bootstrap_->on_control(from.proc, *payload);
  } else if (auto block = blocks_.take(from.proc, *payload)) {
    bootstrap_->on_block(from.proc, std::move(*block));
  }
}

Result<void> ControlChannel::wait(const std::function<bool()>& ready, Deadline deadline,
                                  const std::function<std::string()>& what) {
  return waits_.wait_for_others(ready, deadline, what);
}

Result<void> ControlChannel::fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline, const std::function<bool()>& needless) {
  return fences_.meet(ranks, tag, deadline, needless);
}

Result<void> ControlChannel::pause(std::uint64_t ns, const std::function<std::string()>& what) {
  auto waited = wait([] { return false; }, Deadline::after_ns(ns), what);
  if (!waited && waited.error().code != Errc::timed_out) return waited;
  return {};
}

// Of this node, as mpiexec marks them; elsewhere, those that a transport has a connection to. Who has ended
// in order is not meant: it may have had its part in the creation that others are still waiting for.
std::optional<ProcId> ControlChannel::dead_among(const ProcList& members) noexcept {
  if (const auto dead = waits_.polling().peers().dead_among(members)) return dead;
  return place_.dead_among(members);
}

}  // namespace starling::mpi
