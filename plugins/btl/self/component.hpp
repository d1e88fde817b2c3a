// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Messages of a process to itself. Layer: plugin.
///
/// A ring in private memory holds what was sent until the next progress; a message is never delivered from
/// within send, since the sender may be inside a delivery.
///
/// Threads:   as btl::Component.
/// Ordering:  first in, first out.
/// Errors:    a full ring is `again`.

#include <cstdint>
#include <memory>

#include "frameworks/btl/btl.hpp"
#include "plugins/btl/self/own_memory.hpp"

namespace starling::btl {

class SelfComponent final : public Component, private Endpoint {
 public:
  explicit SelfComponent(const Args& args);

  [[nodiscard]] std::string_view name() const noexcept override { return "self"; }
  [[nodiscard]] const Limits& limits() const noexcept override { return limits_; }
  [[nodiscard]] const Needs& needs() const noexcept override { return needs_; }
  [[nodiscard]] std::vector<std::byte> address() const override { return {}; }
  [[nodiscard]] Result<void> reaches(ProcId peer) const override;
  [[nodiscard]] Result<Endpoint*> connect(ProcId peer, std::span<const std::byte> address) override;
  [[nodiscard]] Result<std::unique_ptr<Exposed>> expose(std::span<std::byte> memory) override;
  int progress() noexcept override;
  [[nodiscard]] bool begin_sleep() noexcept override { return used_ == 0; }
  void end_sleep() noexcept override {}
  [[nodiscard]] int wait_fd() const noexcept override { return -1; }
  [[nodiscard]] bool drained() const noexcept override { return used_ == 0; }
  void set_idle(bool) noexcept override {}
  [[nodiscard]] Counters counters() const override { return counters_; }

 private:
  Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept override;
  Post send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                 Completion*) noexcept override {
    return send(header, payload);
  }
  [[nodiscard]] bool await_room() noexcept override { return false; }  // this process makes it itself
  std::byte* reserve(std::size_t bytes) noexcept override;
  void commit(std::size_t bytes) noexcept override;
  Post get(const RemoteBuffer& from, std::span<std::byte> to, Completion* completion) noexcept override;
  [[nodiscard]] bool can_get(const RemoteBuffer&) noexcept override { return true; }
  [[nodiscard]] Loans* loans() noexcept override { return nullptr; }
  [[nodiscard]] Writes* writes() noexcept override { return nullptr; }
  [[nodiscard]] CopyWay copies() noexcept override { return {}; }
  [[nodiscard]] Remote* remote() noexcept override { return &own_memory_; }

  Sink& sink_;
  shm::NodeSegment* segment_;  // null in some tests: then nobody sleeps
  std::uint32_t local_rank_;
  ProcId self_;
  Limits limits_;
  Needs needs_;
  Counters counters_;
  OwnMemory own_memory_{counters_};
  Origin origin_;
  std::unique_ptr<std::byte[]> ring_;  // made at the first message
  std::size_t read_ = 0;               // offset of the oldest record
  std::size_t write_ = 0;              // offset of the next one
  std::size_t used_ = 0;               // bytes between them, skipped ends included
  std::size_t skip_ = 0;               // bytes that the reserved record leaves unused at the ring's end
};

[[nodiscard]] Result<std::unique_ptr<Component>> create_self_component(const Args& args);

}  // namespace starling::btl
