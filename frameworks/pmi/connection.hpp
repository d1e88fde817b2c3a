// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The stream to a PMI-1 or PMI-2 server: whole texts out, whole messages in. Layer: framework; used
/// by the clients that speak the wire protocols themselves.
///
/// Threads:   one at a time. Ownership: owns the descriptor; a returned Message is valid until the next
///            receive.
/// Errors:    peer_lost when the server closed the stream, timed_out at the deadline (nothing is lost: bytes
///            stay buffered), bad_input for a message that breaks the rules. The descriptor's O_NONBLOCK flag
///            is shared with whoever inherited it too (a shell between mpiexec and us): it is never set;
///            every read asks for MSG_DONTWAIT after poll().

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "core/unique_fd.hpp"
#include "frameworks/pmi/wire.hpp"

namespace starling::pmi {

class Connection {
 public:
  /// Takes the descriptor over and sets close-on-exec: children of this process are no ranks. `where`, a
  /// literal, is where its errors come from.
  Connection(UniqueFd fd, const char* where);
  /// Connects over TCP, within `deadline` per address.
  [[nodiscard]] static Result<UniqueFd> connect_tcp(const std::string& host, const std::string& port,
                                                    Deadline deadline, const char* where);

  [[nodiscard]] Result<void> send(std::string_view text);
  /// As send(), once the server has read what was sent before and not answered (a fence that is under way).
  /// Slurm's PMI-1 server takes two commands that it reads at once for one, and answers the first only.
  [[nodiscard]] Result<void> send_alone(std::string_view text);
  [[nodiscard]] Result<wire::Message> receive(Deadline deadline);
  /// A message that is there already; none: there is no complete one.
  [[nodiscard]] Result<std::optional<wire::Message>> receive_now();

  /// Every later send is refused by the system.
  void close() noexcept { fd_.reset(); }
  /// Leaves the descriptor open, to the end of the process: who looks for a launcher still finds one.
  void abandon() noexcept { (void)fd_.release(); }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept { return bytes_sent_; }
  [[nodiscard]] std::uint64_t bytes_received() const noexcept { return bytes_received_; }

 private:
  /// Reads once without blocking; false: nothing was there.
  Result<bool> fill();
  [[nodiscard]] Unexpected server_gone() const;

  UniqueFd fd_;
  const char* where_;
  bool unanswered_ = false;  ///< nothing has come since the last send
  wire::Reader reader_;
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_received_ = 0;
};

}  // namespace starling::pmi
