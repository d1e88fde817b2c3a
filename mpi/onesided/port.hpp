// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The messages of all windows of this process. Layer: mpi. docs/design/onesided.md
///
/// It is registered with the peers from the first window that needs messages on, and stays: a process that
/// sends to a window that was freed here has to be told so.
///
/// Threads:   under the runtime's lock.
/// Ownership: windows and channels are borrowed: they leave before they end.
/// Ordering:  the messages of one process are done in the order in which it has sent them.
/// Errors:    a malformed message is dropped, and noted once per peer.

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "frameworks/peer/port.hpp"
#include "mpi/onesided/channel.hpp"
#include "mpi/runtime/progressable.hpp"

namespace starling::mpi::message {

/// The longest payload of one message to the process `to`; `final`: this will not change any more.
[[nodiscard]] std::size_t longest_message(ProcId to, bool& final);

class Port final : public peer::Port, public Progressable {
 public:
  [[nodiscard]] static Port& get();

  /// From here on others may send messages for this window.
  [[nodiscard]] Result<void> add(Win& win);
  void remove(Win& win) noexcept;
  /// Tells a member that this process has no window of that id, whatever the member waits for.
  void say_gone(ProcId to, std::uint64_t window) noexcept;

  [[nodiscard]] Result<void> send(ProcId to, std::span<const std::byte> message);
  /// The channel has something to send; progress() sends it.
  void activate(Channel& channel);
  void forget(Channel& channel) noexcept;

  // peer::Port
  [[nodiscard]] std::string_view name() const noexcept override { return "one-sided"; }
  void receive(peer::Peer& from, std::span<const std::byte> message) noexcept override;
  void lose(peer::Peer& peer) noexcept override;
  // Progressable
  int progress() noexcept override;

 private:
  Port() = default;

  std::unordered_map<std::uint64_t, Win*> windows_;
  std::vector<Channel*> active_;
};

}  // namespace starling::mpi::message
