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

#include "frameworks/pmi/rank_list.hpp"
#include "frameworks/pmi/wire_client.hpp"

namespace starling::pmi {

/// Where its errors come from.
inline constexpr char kPmi1[] = "pmi/pmi1";

class Pmi1 final : public WireClient {
 public:
  /// Connects as `get` says; `request_timeout_s` 0: wait for ever. `settings`: frameworks/pmi/settings.hpp;
  /// empty: none are told.
  [[nodiscard]] static Result<std::unique_ptr<Component>> make(const Getenv& get,
                                                               std::uint64_t request_timeout_s,
                                                               const std::string& settings = {});
  ~Pmi1() override { end(); }

  [[nodiscard]] Result<Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                          Deadline deadline) override;
  [[nodiscard]] Result<Fence> last_fence_enter(Deadline deadline) override;
  void fence_abandon(Fence fence) noexcept override;
  [[nodiscard]] Result<void> publish(std::string_view name, std::string_view port) override;
  [[nodiscard]] Result<std::string> lookup(std::string_view name) override;
  [[nodiscard]] Result<void> unpublish(std::string_view name) override;

 private:
  using Tag = std::uint32_t;  ///< 0: the world barrier

  Pmi1(Connection connection, std::uint64_t request_timeout_s)
      : WireClient(std::move(connection), request_timeout_s,
                   {kPmi1, wire::Line("finalize").take(), "finalize_ack", wire::Line("busy").take(),
                    wire::Line("idle").take()}) {}

  [[nodiscard]] Result<void> init(const Getenv& get, const Launch& launch, const std::string& settings);
  [[nodiscard]] Result<void> say_hello(const std::string& settings);
  [[nodiscard]] Result<void> take_features(const Getenv& get, const Features& features);
  [[nodiscard]] Result<void> ask_everything(const Getenv& get);
  [[nodiscard]] Result<void> ask_node_map();
  [[nodiscard]] Result<void> find_name_service();

  /// A barrier_out, or a late setting.
  [[nodiscard]] Result<bool> sorted(const wire::Message& message) override;
  /// Takes the fence's barrier_out, if it is there.
  [[nodiscard]] bool is_over(Fence fence) override;
  [[nodiscard]] Result<void> put_text(const std::string& key, std::string_view text) override;
  [[nodiscard]] Result<std::optional<std::string>> get_text(std::uint32_t rank, std::string_view key,
                                                            bool& gone) override;
  [[nodiscard]] std::string abort_request(int exit_code, std::string_view message) const override;
  [[nodiscard]] Result<void> enter(std::string line);

  std::string kvs_;
  int subversion_ = 1;
  std::map<Tag, std::uint32_t> arrived_;  ///< barrier_outs that nobody waited for yet
  RankForm rank_form_ = RankForm::list;
  std::map<Tag, std::string> entered_;      ///< at our own server: fences of groups, as it knows them
  std::map<Tag, std::uint32_t> abandoned_;  ///< tagged fences that timed out: their barrier_out is dropped
};

}  // namespace starling::pmi
