// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A PMI-2 client, over an inherited socket or TCP. Layer: plugin.
///
/// Threads:   as pmi::Component: one call at a time.
/// Ordering:  fences are of the whole world and are told apart by their order alone. One is at the server at
///            a time; those that are entered meanwhile follow it.
/// Errors:    a fence that timed out poisons the connection: nobody can tell later which fence a late answer
///            belongs to, so every later fence fails with that cause. Other requests fail after
///            pmi_pmi2_timeout.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "frameworks/pmi/client.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::pmi {

/// Where its errors come from.
inline constexpr char kPmi2[] = "pmi/pmi2";

class Pmi2 final : public Component {
 public:
  /// Connects as `get` says. `why`: why PMI-2 is spoken, for people. `request_timeout_s` 0: wait for ever.
  [[nodiscard]] static Result<std::unique_ptr<Component>> make(const Getenv& get, std::string_view why,
                                                               std::uint64_t request_timeout_s);
  ~Pmi2() override;

  [[nodiscard]] const Identity& identity() const noexcept override { return identity_; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] Result<void> put(std::string_view key, std::span<const std::byte> value) override;
  [[nodiscard]] Result<Lookup> get(std::uint32_t rank, std::string_view key) override;
  [[nodiscard]] Result<void> fence(Deadline deadline) override;
  [[nodiscard]] Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline) override;
  [[nodiscard]] Result<Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                          Deadline deadline) override;
  [[nodiscard]] Result<Fence> last_fence_enter(Deadline deadline) override;
  [[nodiscard]] Result<bool> fence_left(Fence fence) override;
  void fence_abandon(Fence fence) noexcept override;
  [[nodiscard]] Result<void> publish(std::string_view name, std::string_view port) override;
  [[nodiscard]] Result<std::string> lookup(std::string_view name) override;
  [[nodiscard]] Result<void> unpublish(std::string_view name) override;
  void set_active(bool active) noexcept override;
  void take_leave() noexcept override;
  void abort(int exit_code, std::string_view message) noexcept override;
  [[nodiscard]] int wait_fd() const noexcept override { return connection_.fd(); }
  [[nodiscard]] Result<void> check() override;
  [[nodiscard]] Counters counters() const noexcept override;

 private:
  /// What the server was last asked of the fence that is there.
  enum class Asked : std::uint8_t { nothing, fence, everybody };

  Pmi2(Connection connection, std::uint64_t request_timeout_s)
      : connection_(std::move(connection)), timeout_s_(request_timeout_s) {}

  [[nodiscard]] Result<void> init(const Getenv& get, const Launch& launch);
  [[nodiscard]] Result<void> choose_version();
  [[nodiscard]] Result<void> say_who(const Getenv& get);
  [[nodiscard]] Result<void> take_features(const Features& features);
  [[nodiscard]] Result<void> ask_everything(const Getenv& get);
  [[nodiscard]] Result<std::optional<std::string>> job_attribute(std::string_view key);

  /// Sends a request and gives the reply of that name; answers to the fence are sorted on the way.
  [[nodiscard]] Result<wire::Message> request(std::string frame, std::string_view reply);
  [[nodiscard]] Result<wire::Message> await(std::string_view reply, Deadline deadline);
  /// Takes an answer to the fence. False: it is something else.
  [[nodiscard]] Result<bool> sorted(const wire::Message& message);
  [[nodiscard]] Result<Fence> enter(bool of_the_living);
  [[nodiscard]] Result<void> ask_for_fence();
  [[nodiscard]] Result<void> ask_for_everybody();
  [[nodiscard]] bool is_of_value(const wire::Message& response);
  [[nodiscard]] Result<void> next_fence();
  [[nodiscard]] Result<void> finish(const Result<Fence>& entered, Deadline deadline);
  [[nodiscard]] std::string get_frame(std::string_view key, std::string_view thread) const;
  /// Reads one stored text; nullopt: the server has none. `gone`: it never will.
  [[nodiscard]] Result<std::optional<std::string>> get_text(std::uint32_t rank, std::string_view key,
                                                            bool& gone);
  [[nodiscard]] Unexpected has_left() const;

  Connection connection_;
  std::uint64_t timeout_s_;
  Identity identity_;
  Capabilities capabilities_;
  Counters counters_;
  std::optional<ValueCodec> codec_;
  std::string job_;  ///< as the server calls it
  bool own_server_ = false;
  bool active_ = true;
  bool left_ = false;  ///< took leave: the connection is closed
  std::optional<Error> poisoned_;
  Asked asked_ = Asked::nothing;
  bool of_the_living_ = false;  ///< what the next fence that is sent says
  bool value_asked_ = false;    ///< a get of a value is on the way,
  bool value_first_ = false;    ///< and was sent before the one that the fence asks
  std::uint32_t entered_ = 0;   ///< fences so far
  std::uint32_t completed_ = 0;
};

}  // namespace starling::pmi
