// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A client of a PMI wire protocol, whichever it is: requests and answers on one connection, fences
/// that are under way meanwhile, values in pieces, the end. Layer: framework; pmi/pmi1 and pmi/pmi2 derive
/// from it and say how their protocol writes and reads.
///
/// Threads:   as pmi::Component: one call at a time.
/// Errors:    come from Words::where. Requests fail after `timeout_s`, 0: never. A fence that timed out may
///            poison the connection (fence_abandon() of the protocol): then every later fence fails with
///            that cause.
/// Units:     seconds where the name says so.

#include <cstdint>
#include <optional>
#include <string>

#include "frameworks/pmi/client.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::pmi {

class WireClient : public Component {
 public:
  [[nodiscard]] const Identity& identity() const noexcept final { return identity_; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept final { return capabilities_; }
  [[nodiscard]] Result<void> put(std::string_view key, std::span<const std::byte> value) final;
  [[nodiscard]] Result<Lookup> get(std::uint32_t rank, std::string_view key) override;
  [[nodiscard]] Result<void> fence(Deadline deadline) final;
  [[nodiscard]] Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                   Deadline deadline) final;
  [[nodiscard]] Result<bool> fence_left(Fence fence) final;
  void set_active(bool active) noexcept final;
  void take_leave() noexcept final;
  void abort(int exit_code, std::string_view message) noexcept final;
  [[nodiscard]] int wait_fd() const noexcept final { return connection_.fd(); }
  [[nodiscard]] Result<void> check() final;
  [[nodiscard]] Counters counters() const noexcept final;

 protected:
  /// What the protocol says where nothing else differs.
  struct Words {
    const char* where;  ///< a literal: the plugin's name
    std::string goodbye;
    const char* goodbye_reply;
    std::string busy;  ///< to Starling's mpiexec, as is `idle`
    std::string idle;
  };

  WireClient(Connection connection, std::uint64_t timeout_s, Words words)
      : connection_(std::move(connection)), timeout_s_(timeout_s), words_(std::move(words)) {}
  /// For the destructor of the protocol, which sorted() needs. A process that ends while MPI is in use says
  /// nothing, so that the process manager can see a failure.
  void end() noexcept {
    if (!active_) take_leave();
  }

  /// Takes a message that answers no request, of a fence as a rule. False: it is something else.
  [[nodiscard]] virtual Result<bool> sorted(const wire::Message& message) = 0;
  /// Whether a fence that was entered is over.
  [[nodiscard]] virtual bool is_over(Fence fence) = 0;
  [[nodiscard]] virtual Result<void> put_text(const std::string& key, std::string_view text) = 0;
  /// Reads one stored text; nullopt: the server has none. `gone`: it never will.
  [[nodiscard]] virtual Result<std::optional<std::string>> get_text(std::uint32_t rank, std::string_view key,
                                                                    bool& gone) = 0;
  [[nodiscard]] virtual std::string abort_request(int exit_code, std::string_view message) const = 0;

  /// Sends a request and gives the reply of that name; what belongs to a fence is sorted on the way.
  [[nodiscard]] Result<wire::Message> request(std::string text, std::string_view reply);
  /// Sends a command. Starling's mpiexec takes any number at once; other servers may know one at a time.
  [[nodiscard]] Result<void> say(std::string_view text) {
    return own_server_ ? connection_.send(text) : connection_.send_alone(text);
  }
  /// The error for a server that does not take this process as a rank.
  [[nodiscard]] Unexpected not_taken(const wire::Message& reply) const;
  /// Why no fence can be entered, if so; counts one.
  [[nodiscard]] Result<void> may_enter();
  /// Fences cannot be told apart any more.
  void poison();

  Connection connection_;
  std::uint64_t timeout_s_;
  Identity identity_;
  Capabilities capabilities_;
  Counters counters_;
  std::optional<ValueCodec> codec_;
  bool own_server_ = false;  ///< Starling's mpiexec

 private:
  [[nodiscard]] Result<wire::Message> await(std::string_view reply, Deadline deadline);
  [[nodiscard]] Result<void> finish(const Result<Fence>& entered, Deadline deadline);
  [[nodiscard]] Unexpected has_left() const;

  Words words_;
  bool active_ = true;
  bool left_ = false;  ///< took leave: the connection is closed
  std::optional<Error> poisoned_;
};

}  // namespace starling::pmi
