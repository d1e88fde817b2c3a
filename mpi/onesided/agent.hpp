// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Takes the lock of this process's part of a window for members of other domains. Layer: mpi.
/// docs/design/onesided.md
///
/// It queues like any member, with slots of its own in the control words: so those who lock by memory and
/// those who ask by messages exclude each other, and neither waits longer than its turn. Behind it those who
/// ask by messages have a queue of their own; those who share the lock hold it together.
///
/// Threads:   under the runtime's lock.
/// Errors:    a holder that has died is told to who waits next, which gets the lock all the same.

#include <cstdint>
#include <deque>
#include <string>

#include "mpi/onesided/lock_place.hpp"
#include "mpi/runtime/progressable.hpp"

namespace starling::mpi::message {

/// Whom the agent tells.
class Granted {
 public:
  virtual void on_granted(std::uint32_t origin) noexcept = 0;
  virtual void on_holder_died(std::uint32_t origin, std::uint32_t dead) noexcept = 0;

 protected:
  ~Granted() = default;
};

class Agent final : public Progressable {
 public:
  Agent(Win& win, Granted& granted) noexcept : win_(win), granted_(granted) {}
  ~Agent() override;

  /// True: it has the lock at once. Else on_granted() follows.
  [[nodiscard]] bool take(std::uint32_t origin, bool exclusive, bool first);
  void give(bool exclusive);
  /// The origin has ended: it waits no longer.
  void forget(std::uint32_t origin);

  int progress() noexcept override;
  [[nodiscard]] std::string describe() const override;

 private:
  enum class Stage : std::uint8_t { idle, queued_node, queued_target };
  struct Wanted {
    std::uint32_t origin;
    bool exclusive;
    bool first;
  };
  [[nodiscard]] LockPlace target_place() const noexcept;
  [[nodiscard]] LockPlace node_place() const noexcept;
  [[nodiscard]] bool try_at_once(const Wanted& wanted);
  [[nodiscard]] bool step(const Wanted& wanted);
  [[nodiscard]] bool begin(const Wanted& wanted);
  void take_back();
  void look(const Wanted& wanted);
  void granted(const Wanted& wanted) noexcept;

  Win& win_;
  Granted& granted_;
  std::deque<Wanted> queue_;
  Stage stage_ = Stage::idle;  // of the first in the queue
  bool has_node_ = false;      // the first, or the holder, has the node's lock
  std::uint32_t sharing_ = 0;
  bool exclusive_ = false;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace starling::mpi::message
