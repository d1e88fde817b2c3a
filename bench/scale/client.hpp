// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The process manager as one simulated process sees it: PMI-1 through one server. Layer: bench.
///
/// Values are encoded and cut as pmi/pmi1 does it (frameworks/pmi/value.hpp), so that the requests are its.
/// Threads: one, in the process's fiber. Units: bytes of keys and values; the rest of a request is left out.

#include <optional>
#include <string>

#include "frameworks/pmi/pmi.hpp"

namespace starling::scale {

class Process;

class Client final : public pmi::Component {
 public:
  explicit Client(Process& process);

  /// Without a node map: the bootstrap gets it elsewhere.
  const pmi::Identity& identity() const noexcept override { return identity_; }
  const pmi::Capabilities& capabilities() const noexcept override;
  Result<void> put(std::string_view key, std::span<const std::byte> value) override;
  Result<pmi::Lookup> get(std::uint32_t rank, std::string_view key) override;
  Result<void> fence(Deadline deadline) override;
  Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline) override;
  Result<pmi::Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                 Deadline deadline) override;
  Result<bool> fence_left(pmi::Fence fence) override;
  Result<void> publish(std::string_view name, std::string_view port) override;
  Result<std::string> lookup(std::string_view name) override;
  Result<void> unpublish(std::string_view name) override;
  void set_active(bool) noexcept override {}
  void abort(int, std::string_view) noexcept override {}
  int wait_fd() const noexcept override { return -1; }
  Result<void> check() override { return {}; }
  Counters counters() const noexcept override { return counters_; }

  /// By events: the fence that was entered first of those not left is over.
  void left_fence() noexcept { ++left_; }

 private:
  [[nodiscard]] std::optional<std::string> get_text(std::uint32_t rank, std::string_view key,
                                                    std::size_t piece);

  Process& process_;
  pmi::Identity identity_;
  Counters counters_;
  std::uint32_t entered_ = 0, left_ = 0;  // fences: a creation has one at a time
};

}  // namespace starling::scale
