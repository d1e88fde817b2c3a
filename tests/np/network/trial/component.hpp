// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  btl/trial: a transport to other nodes for tests, over sockets of this machine. Layer: tests.
///
/// What it declares is set by parameters, and it behaves accordingly: with trial_barrier_before a message to
/// a process that is not there is lost, with trial_hold_ms a message is lost when its sender closes too
/// early. A second build, trial2, is another network with parameters of its own.
/// Threads, ownership, ordering: as btl.hpp says.
/// Errors: a peer that closes its stream is reported as lost, or as left if it has said so; one that listened
/// once and refuses now has left. So each job needs a trial_directory of its own: names in it stay.

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/unique_fd.hpp"
#include "frameworks/btl/btl.hpp"
#include "tests/np/network/trial/link.hpp"

namespace starling::btl::trial {

class Trial final : public Component {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Component>> make(const Args& args);

  [[nodiscard]] std::string_view name() const noexcept override { return TRIAL_TEXT; }
  [[nodiscard]] const Limits& limits() const noexcept override { return limits_; }
  [[nodiscard]] const Needs& needs() const noexcept override { return needs_; }
  [[nodiscard]] std::vector<std::byte> address() const override { return own_.bytes(); }
  [[nodiscard]] Result<void> reaches(ProcId) const override { return {}; }
  [[nodiscard]] Result<Endpoint*> connect(ProcId peer, std::span<const std::byte> address) override;
  [[nodiscard]] Result<std::unique_ptr<Exposed>> expose(std::span<std::byte>) override {
    return fail(Errc::unsupported, "btl/trial", "it moves messages only");
  }
  int progress() noexcept override;
  [[nodiscard]] bool begin_sleep() noexcept override;
  void end_sleep() noexcept override {}
  [[nodiscard]] int wait_fd() const noexcept override { return epoll_.get(); }
  [[nodiscard]] bool drained() const noexcept override;
  void set_idle(bool idle) noexcept override;
  [[nodiscard]] Counters counters() const override { return counters_; }

 private:
  explicit Trial(const Args& args);
  [[nodiscard]] Result<void> listen();
  void accept();
  /// Once for each end of a peer, however many of its streams show it.
  void tell_end(ProcId peer, Errc how, const char* detail);
  [[nodiscard]] std::string socket_path(std::uint32_t rank) const;

  Sink& sink_;
  ProcId self_;
  Limits limits_;
  Needs needs_;
  Manner manner_;
  Counters counters_;
  std::string directory_, interface_;
  SocketAddress own_;
  UniqueFd listener_, epoll_;
  std::unordered_map<ProcId, std::unique_ptr<Outgoing>> outgoing_;
  std::vector<std::unique_ptr<Incoming>> incoming_;
  std::unordered_set<ProcId> ended_;
};

}  // namespace starling::btl::trial
