// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A PMI-1 client: 1.1 and 1.2 servers, over an inherited socket or TCP. Layer: plugin.
///
/// Threads:   as pmi::Component: one call at a time.
/// Ordering:  barrier_out messages of other tags that arrive while something else is awaited are kept for
///            their fence.
/// Errors:    an untagged fence that timed out poisons the connection: nobody can tell later which fence a
///            late barrier_out belongs to, so every later fence fails with that cause. Requests other than
///            fences fail after pmi_pmi1_timeout.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "frameworks/pmi/client.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::pmi {

/// Where its errors come from.
inline constexpr char kPmi1[] = "pmi/pmi1";

class Pmi1 final : public Component {
 public:
  /// Connects as `get` says; `request_timeout_s` 0: wait for ever.
  [[nodiscard]] static Result<std::unique_ptr<Component>> make(const Getenv& get,
                                                               std::uint64_t request_timeout_s);
  ~Pmi1() override;

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
  using Tag = std::uint32_t;  ///< 0: the world barrier

  Pmi1(Connection connection, std::uint64_t request_timeout_s)
      : connection_(std::move(connection)), timeout_s_(request_timeout_s) {}

  [[nodiscard]] Result<void> init(const Getenv& get, const Launch& launch);
  [[nodiscard]] Result<void> say_hello();
  [[nodiscard]] Result<void> take_features(const Getenv& get, const Features& features);
  [[nodiscard]] Result<void> ask_everything(const Getenv& get);
  [[nodiscard]] Result<void> ask_node_map();
  [[nodiscard]] Result<void> find_name_service();

  /// Sends a request and gives the reply of that name; what a barrier left behind is sorted on the way.
  [[nodiscard]] Result<wire::Message> request(std::string line, std::string_view reply);
  [[nodiscard]] Result<wire::Message> await(std::string_view reply, Deadline deadline);
  /// Takes a message that answers no request: a barrier_out, or a late setting. False: it is something else.
  [[nodiscard]] Result<bool> sorted(const wire::Message& message);
  [[nodiscard]] Result<void> enter(std::string line);
  [[nodiscard]] bool take_arrived(Tag tag);
  [[nodiscard]] Result<void> finish(const Result<Fence>& entered, Deadline deadline);
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
  std::string kvs_;
  int subversion_ = 1;
  bool own_server_ = false;
  bool active_ = true;
  bool left_ = false;  ///< took leave: the connection is closed
  std::optional<Error> poisoned_;
  std::map<Tag, std::uint32_t> arrived_;    ///< barrier_outs that nobody waited for yet
  std::map<Tag, std::string> entered_;      ///< at our own server: fences of groups, as it knows them
  std::map<Tag, std::uint32_t> abandoned_;  ///< tagged fences that timed out: their barrier_out is dropped
};

}  // namespace starling::pmi
