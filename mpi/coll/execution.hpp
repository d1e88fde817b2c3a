// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Runs a schedule: starts what is ready, notices what is complete. Layer: mpi.
/// docs/design/collectives.md
///
/// Blocking, nonblocking and persistent operations are the same object driven differently: wait at once,
/// advance from the progress loop, or start again.
///
/// Threads:   one at a time (the runtime's lock).
/// Ownership: owns schedule and requests; it must not move or die between start() and the end of the
///            operation.
/// Errors:    the first fault of any message is kept; a lost peer ends the operation early, anything else
///            lets it run to its end so that the other processes are not left waiting. A message that is
///            shorter than the receive step is as wrong as a longer one. From then on nothing is combined or
///            copied, and what others are to get from this process is replaced by empty messages, which tell
///            them (unless Schedule::direct()). In a composed schedule those who wait for this process may
///            have nothing to do with a lost peer: who gives up sends them notices, messages of a length that
///            they do not expect. A schedule without memory (Schedule::ok()) is hollow: all its messages go,
///            so that nobody waits, but empty ones, and nothing is kept of what comes. Those that tell
///            lengths go as they are; a schedule that cannot tell them is given up.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frameworks/pml/pml.hpp"
#include "mpi/coll/schedule.hpp"

namespace starling::mpi::coll {

/// Where a schedule's messages go.
struct Port {
  pml::Component* pml = nullptr;
  pml::Context* context = nullptr;
  Tag tag{0};
};

class Execution {
 public:
  Schedule schedule;

  /// Begins the operation, again after it has completed. May complete it at once.
  void start(const Port& port) noexcept;
  /// As start(), after a fault elsewhere in the operation: nothing is combined or passed on, all messages go.
  void start_worthless(const Port& port) noexcept;
  /// Instead of start(): member `gone` has ended, and whoever waits for this process is to hear of it.
  void abandon(const Port& port, int gone) noexcept;
  /// Goes as far as it can without waiting; the caller polls the pml. True when the operation is complete.
  bool advance() noexcept;
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  [[nodiscard]] pml::Fault fault() const noexcept { return fault_; }
  /// Whether a message could not be sent or received, and only those are waited for that have matched.
  [[nodiscard]] bool abandoned() const noexcept { return abandoned_; }
  /// Peer of the first failed message, or the dead member; -1 if this process sends itself another length
  /// than it receives.
  [[nodiscard]] int faulty_peer() const noexcept { return faulty_peer_; }
  /// Whether that peer lives and has told of a member that has ended.
  [[nodiscard]] bool told_of_loss() const noexcept { return told_of_loss_; }
  /// After Fault::truncated: what that message held, and what was expected; `sent` is 0 if the peer passes
  /// the news on, and equals `expected` if it is longer by an unknown amount.
  struct Lengths {
    std::uint64_t sent = 0, expected = 0;
  };
  [[nodiscard]] const Lengths& lengths() const noexcept { return lengths_; }
  /// For hang help: "round 2 of 3, waits for rank 1, 5".
  [[nodiscard]] std::string state() const;

 private:
  void reset(const Port& port) noexcept;
  void begin_round() noexcept;
  [[nodiscard]] bool round_over() noexcept;
  /// Gives up if a request behind the first that is not complete has failed; looks at the next one each time.
  void look_behind() noexcept;
  void post_send(const Schedule::Step& step) noexcept;
  void post_receive(const Schedule::Step& step) noexcept;
  void run_work(const Schedule::Step& step) noexcept;
  void run_local(const Schedule::Step& step) noexcept;
  void note_fault(const pml::Request& request) noexcept;
  void give_up() noexcept;
  void send_notices(std::uint32_t from_round) noexcept;
  void send_notice(int peer, std::uint64_t expected) noexcept;
  [[nodiscard]] bool notices_sent() const noexcept;
  pml::Request& fresh_request() noexcept;
  void prepare(pml::Request& request) const noexcept;

  Port port_;
  std::unique_ptr<pml::Request[]> requests_;
  std::vector<std::unique_ptr<pml::Request>> notices_;  ///< on their way
  std::uint32_t capacity_ = 0;
  std::uint32_t posted_ = 0;    ///< requests of this round
  std::uint32_t finished_ = 0;  ///< requests below this index are complete
  std::uint32_t looked_ = 0;    ///< index that look_behind() has looked at
  std::uint32_t round_ = 0;
  std::uint32_t waiting_special_ = 0;  ///< index of the step that is advanced
  bool has_special_ = false;
  bool round_begun_ = false;
  bool complete_ = true;
  bool abandoned_ = false;
  bool told_of_loss_ = false;
  bool hollow_ = false;  ///< no buffer of the schedule may be touched
  pml::Fault fault_ = pml::Fault::none;
  int faulty_peer_ = -1;
  Lengths lengths_;
};

/// Copies between two buffers of equal packed size.
void copy_buffer(const Buffer& from, const Buffer& to) noexcept;

}  // namespace starling::mpi::coll
