// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A PMI-2 client, over an inherited socket or TCP. Layer: plugin.
///
/// Threads:   as pmi::Component: one call at a time.
/// Ordering:  fences are of the whole world, and only their order tells them apart. One is at the server at a
///            time; fences that are entered meanwhile follow it.
/// Errors:    a fence that timed out poisons the connection: nobody can tell later which fence a late answer
///            belongs to, so every later fence fails with that cause. Other requests fail after
///            pmi_pmi2_timeout.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "frameworks/pmi/wire_client.hpp"

namespace starling::pmi {

/// Where its errors come from.
inline constexpr char kPmi2[] = "pmi/pmi2";

class Pmi2 final : public WireClient {
 public:
  /// Connects as the variables of `get` say. `why`: the reason why PMI-2 is spoken, for people.
  /// `request_timeout_s` 0: wait for ever. `settings`: frameworks/pmi/settings.hpp; empty: none are told.
  [[nodiscard]] static Result<std::unique_ptr<Component>> make(const Getenv& get, std::string_view why,
                                                               std::uint64_t request_timeout_s,
                                                               const std::string& settings = {});
  ~Pmi2() override { end(); }

  [[nodiscard]] Result<Lookup> get(std::uint32_t rank, std::string_view key) override;
  [[nodiscard]] Result<Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                          Deadline deadline) override;
  [[nodiscard]] Result<Fence> last_fence_enter(Deadline deadline) override;
  void fence_abandon(Fence fence) noexcept override;
  [[nodiscard]] Result<void> publish(std::string_view name, std::string_view port) override;
  [[nodiscard]] Result<std::string> lookup(std::string_view name) override;
  [[nodiscard]] Result<void> unpublish(std::string_view name) override;

 private:
  /// The last question to the server about the present fence.
  enum class Asked : std::uint8_t { nothing, fence, everybody };

  Pmi2(Connection connection, std::uint64_t request_timeout_s)
      : WireClient(std::move(connection), request_timeout_s,
                   {kPmi2, wire::Frame("finalize").take(), "finalize-response", wire::Frame("busy").take(),
                    wire::Frame("idle").take()}) {}

  [[nodiscard]] Result<void> init(const Getenv& get, const Launch& launch, const std::string& settings);
  [[nodiscard]] Result<void> choose_version();
  [[nodiscard]] Result<void> say_who(const Getenv& get, const std::string& settings);
  [[nodiscard]] Result<void> take_features(const Features& features);
  [[nodiscard]] Result<void> ask_everything(const Getenv& get);
  [[nodiscard]] Result<std::optional<std::string>> job_attribute(std::string_view key);

  /// An answer to the fence.
  [[nodiscard]] Result<bool> sorted(const wire::Message& message) override;
  [[nodiscard]] bool is_over(Fence fence) override { return completed_ >= fence.number; }
  [[nodiscard]] Result<void> put_text(const std::string& key, std::string_view text) override;
  [[nodiscard]] Result<std::optional<std::string>> get_text(std::uint32_t rank, std::string_view key,
                                                            bool& gone) override;
  [[nodiscard]] std::string abort_request(int exit_code, std::string_view message) const override;
  [[nodiscard]] Result<Fence> enter(bool of_the_living);
  [[nodiscard]] Result<void> ask_for_fence();
  [[nodiscard]] Result<void> ask_for_everybody();
  [[nodiscard]] bool is_of_value(const wire::Message& response);
  [[nodiscard]] Result<void> next_fence();
  [[nodiscard]] std::string get_frame(std::string_view key, std::string_view thread) const;

  std::string job_;  ///< as the server calls it
  Asked asked_ = Asked::nothing;
  bool of_the_living_ = false;  ///< the next fence that is sent is of the living only
  bool value_asked_ = false;    ///< a get of a value was sent and not answered,
  bool value_first_ = false;    ///< and was sent before the one that the fence asks
  std::uint32_t entered_ = 0;   ///< fences so far
  std::uint32_t completed_ = 0;
};

}  // namespace starling::pmi
