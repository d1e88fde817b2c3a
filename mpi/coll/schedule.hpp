// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What one process does in one collective operation, as a value. Layer: mpi.
/// docs/design/collectives.md
///
/// A schedule is a list of rounds. The messages of a round are posted in the order they were added, then its
/// local steps run in the order they were added; the next round starts when all of them are complete. So no
/// step may touch memory that a message of the same round receives into, nor change memory that one sends
/// from.
///
/// Threads:   one at a time (the runtime's lock).
/// Ownership: owns its scratch memory; user buffers, datatypes and operations are borrowed.
/// Ordering:  messages between two processes match in the order of their rounds; a schedule has one tag.
/// Errors:    when scratch memory cannot be had, ok() is false, and running the schedule only tells others.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "mpi/coll/scratch.hpp"
#include "mpi/coll/type.hpp"

namespace starling::mpi::coll {

/// A step with its own idea of progress: a whole algorithm (shared memory, offload) can be one such step.
class Special {
 public:
  virtual ~Special() = default;
  /// Called at each start of the schedule; sees the tag that the operation has in its communicator.
  virtual void start(std::int32_t tag) noexcept = 0;
  /// True when it is finished.
  [[nodiscard]] virtual bool advance() noexcept = 0;
};

class Schedule {
 public:
  enum class Do : std::uint8_t { send, receive, copy, reduce, special, work };
  using Work = std::function<void(Schedule&)>;

  struct Step {
    Do what = Do::copy;
    std::int32_t peer =
        0;  ///< send, receive: rank in the communicator (in the remote group of an intercommunicator)
    std::uint64_t count = 0;  ///< reduce: elements; work: its number
    Buffer from;              ///< send, copy, reduce (base only)
    Buffer to;                ///< receive, copy, reduce (base only)
    Special* special = nullptr;
    bool late = false;  ///< a message whose buffer is settled while the schedule runs; none if that is empty
    bool always = false;   ///< local steps and sends: done after a disagreement too
    bool lengths = false;  ///< a message that tells how long others are, which goes whatever happens
    bool settled = false;
    /// A late message of which both ends know that it is empty: it is not sent.
    [[nodiscard]] bool none() const noexcept { return settled && from.bytes + to.bytes == 0; }
  };

  /// Half-open range of steps.
  struct Round {
    std::uint32_t begin = 0, end = 0, messages = 0;
  };

  /// From here on peers are numbers in this list, in the order of which a part of the members does something
  /// among itself; empty: ranks again. Read while steps are added only.
  void among(std::span<const int> ranks) noexcept {
    among_ = ranks;
    composed_ = true;
  }
  /// Whether parts of the members do something among themselves: then a loss in one part concerns those who
  /// wait in others.
  [[nodiscard]] bool composed() const noexcept { return composed_; }

  void send(int to, Buffer what);
  /// A send that is done after a disagreement too: of this process's own data.
  void send_always(int to, Buffer what) {
    send(to, what);
    steps_.back().always = true;
  }
  void receive(int from, Buffer where);
  /// Packs, unpacks or copies; both sides have the same number of bytes, or it is a fault and the smaller one
  /// counts. Without bytes on one side it leaves no trace.
  void copy(Buffer from, Buffer to);
  /// A copy that is done after a disagreement too: of what came in good order.
  void copy_always(Buffer from, Buffer to);
  /// Names what reduce() applies; once per schedule.
  void set_reduction(const Operator& operation, const Type& type) noexcept;
  /// to[i] = from[i] op to[i]
  void reduce(const void* from, void* to, std::uint64_t count);
  /// Each message carries its sender's own data: one that was received with a wrong length makes none of
  /// those that are sent later wrong.
  void set_direct() noexcept { direct_ = true; }
  /// A local step of any kind, run at each start, after a disagreement or without memory too where `always`.
  /// It may settle the buffers of messages in later rounds, and add nothing; without memory for what they
  /// carry it settles their lengths and throws.
  void work(Work work, bool always = false);
  /// Messages by which the lengths of late ones are told. Their memory is there, or the schedule is cut
  /// short.
  void send_lengths(int to, Buffer what) {
    send(to, what);
    steps_.back().lengths = true;
  }
  void receive_lengths(int from, Buffer where) {
    receive(from, where);
    steps_.back().lengths = true;
  }
  /// Memory for one length to be told, which is always there.
  [[nodiscard]] std::uint64_t& length() noexcept { return length_; }
  /// Messages to be settled; the result is for settle().
  [[nodiscard]] std::uint32_t send_late(int to);
  [[nodiscard]] std::uint32_t receive_late(int from);
  void settle(std::uint32_t step, Buffer what) noexcept {
    Step& message = steps_[step];
    (message.what == Do::send ? message.from : message.to) = what;
    message.settled = true;
  }
  /// The only local step of its round.
  void special(std::unique_ptr<Special> step);
  /// Ends the round; an empty one leaves no trace.
  void next_round();

  /// Memory for packed bytes, aligned for any type.
  [[nodiscard]] std::byte* scratch(std::uint64_t bytes);
  /// Memory for `count` elements; the address returned is that of element 0.
  [[nodiscard]] void* scratch(const Type& type, std::uint64_t count);

  [[nodiscard]] bool ok() const noexcept { return scratch_.ok(); }
  /// The same for memory that is not the schedule's own.
  void without_memory() noexcept { scratch_.refuse(); }
  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
  [[nodiscard]] const std::vector<Round>& rounds() const noexcept { return rounds_; }
  /// The most messages that one round has in flight.
  [[nodiscard]] std::uint32_t most_messages() const noexcept { return most_messages_; }
  [[nodiscard]] bool direct() const noexcept { return direct_; }
  /// For a builder that has no memory even for lengths that it has to tell.
  void cut_short() noexcept { cut_short_ = true; }
  /// Whether all messages are known, or will be.
  [[nodiscard]] bool knows_messages() const noexcept { return !cut_short_; }
  /// Whether late messages have their lengths.
  [[nodiscard]] bool settled() const noexcept;
  [[nodiscard]] const Work& work(std::uint64_t number) const noexcept { return works_[number]; }
  [[nodiscard]] const Operator& operation() const noexcept { return operation_; }
  [[nodiscard]] const Type& reduced_type() const noexcept { return reduced_type_; }

  /// Forgets everything but keeps its memory for the next use.
  void clear() noexcept;

 private:
  void message(Step step);
  [[nodiscard]] int rank_of(int peer) const noexcept {
    return among_.empty() ? peer : among_[static_cast<std::size_t>(peer)];
  }

  std::vector<Step> steps_;
  std::vector<Round> rounds_;
  std::vector<std::unique_ptr<Special>> specials_;
  std::vector<Work> works_;
  Scratch scratch_;
  Operator operation_;
  Type reduced_type_;
  Round open_;
  std::span<const int> among_;
  std::uint64_t length_ = 0;
  std::uint32_t most_messages_ = 0;
  bool direct_ = false;
  bool composed_ = false;
  bool cut_short_ = false;
};

}  // namespace starling::mpi::coll
