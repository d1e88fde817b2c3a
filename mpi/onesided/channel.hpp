// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What one member sends to one target of a window, and what it still waits for. Layer: mpi.
/// docs/design/onesided.md
///
/// Operations are written one after the other into a message, which goes when it is full, when the process
/// makes progress, or when somebody waits for it: so a lock, a put and an unlock are one message. The target
/// says how far it is; kWindowBytes may be under way, the rest waits here.
///
/// Threads:   under the runtime's lock.
/// Ownership: owns operations that are not complete.
/// Ordering:  the target does everything in the order of the calls.
/// Errors:    the target's, and its death, are kept for take_error().
/// Units:     bytes.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "mpi/onesided/operation.hpp"

namespace starling::mpi {
class Win;
}

namespace starling::mpi::message {

class Channel {
 public:
  Channel(Win& win, std::uint32_t rank);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] ProcId proc() const noexcept { return proc_; }

  /// Takes the operation; goes on by advance().
  void add(std::unique_ptr<Operation> operation);
  /// A notice, or a lock, behind everything so far.
  void notice(What what);

  // Locks: taken with the first operation that follows.
  void want_lock(bool exclusive, bool first) noexcept {
    lock_ = Lock::wanted;
    exclusive_ = exclusive;
    first_ = first;
  }
  /// Gives it back, behind everything so far; nothing is said if it was never asked for.
  void drop_lock();
  [[nodiscard]] bool lock_asked() const noexcept { return lock_ == Lock::asked; }
  /// The lock that is wanted has been taken, as far as the target has said.
  [[nodiscard]] bool lock_taken() const noexcept { return lock_ == Lock::asked && acked_ >= lock_at_; }
  /// Asks for the lock now, and to be told.
  void take_lock();

  /// Sends what waits, as far as the window allows. Returns events.
  int advance();
  /// Asks the target to say when it is through.
  void ask();
  /// All operations are done at the target, or will never be.
  [[nodiscard]] bool done() const noexcept { return lost_ || (acked_ == sent_ && idle()); }
  /// Buffers of the program are needed no more: puts have been sent, and what was to be got is there.
  [[nodiscard]] bool done_here() const noexcept { return lost_ || (idle() && getting_.empty()); }
  /// As above, for the operations up to this one.
  [[nodiscard]] bool done_here(std::uint64_t number) const noexcept {
    return lost_ || ((queue_.empty() || queue_.front()->number > number) &&
                     (getting_.empty() || getting_.begin()->second->number > number));
  }
  /// Of the last operation.
  [[nodiscard]] std::uint64_t number() const noexcept { return last_number_; }
  /// For one that goes by the transport: all operations on a target are numbered together.
  [[nodiscard]] std::uint64_t next_number() noexcept { return ++last_number_; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }
  [[nodiscard]] const std::string& lost_why() const noexcept { return lost_why_; }
  /// There is nothing to send.
  [[nodiscard]] bool idle() const noexcept { return queue_.empty() && open_.empty(); }
  // From the target.
  void on_done(std::uint64_t upto) noexcept;
  void on_data(const Record& record, std::span<const std::byte> payload);
  void on_failed(const Record& record, std::span<const std::byte> payload);
  /// The target's process has ended, or cannot be reached.
  void lose(std::string why);

  /// MPI_SUCCESS, or the first error since the last time, noted.
  [[nodiscard]] int take_error();
  /// "window 'grid' ..., target 3: 2 operations are under way", for hang help.
  [[nodiscard]] std::string describe() const;

 private:
  enum class Lock : std::uint8_t { none, wanted, asked };

  [[nodiscard]] bool has_credit() const noexcept { return sent_ + open_cost_ - acked_ < kWindowBytes; }
  [[nodiscard]] std::size_t longest();
  [[nodiscard]] std::size_t room();
  void write_queue();
  [[nodiscard]] bool write_first();
  void drop();
  void note_loss();
  void begin(Operation& operation);
  [[nodiscard]] bool write_layout(Operation& operation);
  [[nodiscard]] bool write_some(Operation& operation);
  void write(const Record& record, std::span<const std::byte> payload, std::uint64_t comes_back);
  void write_lock();
  void send(std::uint16_t flags);
  void end(std::unique_ptr<Operation> operation);
  [[nodiscard]] std::uint32_t number_of(Operation& operation);

  Win& win_;
  std::uint32_t rank_;
  ProcId proc_;
  std::vector<std::byte> open_;  // the message that is being written; its head is filled in at the end
  std::uint64_t open_cost_ = 0;
  std::uint64_t sent_ = 0, acked_ = 0, asked_ = 0;               // costs
  std::deque<std::unique_ptr<Operation>> queue_;                 // not all sent
  std::map<std::uint64_t, std::unique_ptr<Operation>> getting_;  // by token: sent, something comes back
  std::uint64_t last_token_ = 0, last_number_ = 0;
  Lock lock_ = Lock::none;
  std::uint64_t lock_at_ = 0;  // costs, up to the lock
  bool exclusive_ = false, first_ = false;
  bool lost_ = false;
  int error_class_ = 0;
  std::string error_, lost_why_;
  std::size_t longest_ = 0;  // message
  bool longest_known_ = false;
  static constexpr std::uint32_t kLayouts = 255;
  std::vector<ShapePtr> layouts_;  // that the target knows: number 1 + index
  std::uint32_t next_layout_ = 0;
};

}  // namespace starling::mpi::message
