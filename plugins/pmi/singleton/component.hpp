// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A process that nobody launched: rank 0 of 1. Layer: plugin.
///
/// Threads:   as pmi::Component. Ownership: keeps what was put, for get().
/// Errors:    a launcher that started several processes without a usable PMI is Errc::unsupported, never N
///            singletons.

#include <map>
#include <string>
#include <vector>

#include "frameworks/pmi/environment.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::pmi {

class Singleton final : public Component {
 public:
  /// `anyway`: run alone although a launcher's variables say otherwise.
  [[nodiscard]] static Result<std::unique_ptr<Component>> make(const Getenv& get, bool anyway);

  [[nodiscard]] const Identity& identity() const noexcept override { return identity_; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] Result<void> put(std::string_view key, std::span<const std::byte> value) override;
  [[nodiscard]] Result<Lookup> get(std::uint32_t rank, std::string_view key) override;
  [[nodiscard]] Result<void> fence(Deadline deadline) override;
  [[nodiscard]] Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline) override;
  [[nodiscard]] Result<void> publish(std::string_view name, std::string_view port) override;
  [[nodiscard]] Result<std::string> lookup(std::string_view name) override;
  [[nodiscard]] Result<void> unpublish(std::string_view name) override;
  void set_active(bool) noexcept override {}
  void abort(int, std::string_view) noexcept override {}
  [[nodiscard]] int wait_fd() const noexcept override { return -1; }
  [[nodiscard]] Result<void> check() override { return {}; }
  [[nodiscard]] Counters counters() const noexcept override { return counters_; }

 private:
  Singleton();

  Identity identity_;
  Capabilities capabilities_;
  Counters counters_;
  std::map<std::string, std::vector<std::byte>, std::less<>> values_;
};

}  // namespace starling::pmi
