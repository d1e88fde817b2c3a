// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a process does with copies that several make together: opens, helps, steals. Layer: framework.
/// See docs/design/dynamic.md.
///
/// The receiver opens a copy into its own memory and copies chunks of it. So does the sender, once it is told
/// where the copy stands, and so do waiting processes, if the receiver has asked for them. No process waits
/// for another one that has not begun.
///
/// Threads:   one at a time.
/// Ownership: owns maps of others' memory; borrows the node segment.
/// Errors:    what cannot be had is "no", and the caller copies alone. A process that has died while it
///            copied is found by its slot (mpiexec), or by its pid and a descriptor of it, and its chunk is
///            copied again.
/// Units:     bytes and nanoseconds.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "frameworks/shm/claims/board.hpp"
#include "frameworks/shm/memory/maps.hpp"

namespace starling::shm {

/// Whether processes that wait may copy for others. automatic: only in the same cache or memory domain, and
/// not where processes outnumber cores.
enum class Steal : std::uint8_t { automatic = 0, always = 1, never = 2 };

class SharedCopies {
 public:
  /// The cache and memory that this process is bound to; may take milliseconds. null: nobody knows.
  using FindDomain = std::array<std::int32_t, 2> (*)() noexcept;
  struct Place {
    std::uint32_t maps_most = 64;
    std::uint32_t cores = 0;  ///< of the job on this node; 0: unknown, then nothing is stolen automatically
    FindDomain domain = nullptr;
  };
  SharedCopies(NodeSegment& segment, const Place& place) noexcept;
  SharedCopies(const SharedCopies&) = delete;
  SharedCopies& operator=(const SharedCopies&) = delete;
  ~SharedCopies();

  /// A copy that was opened.
  struct Id {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    std::uint32_t chunk_bytes = 0;
  };
  struct Wanted {
    std::uint64_t message = 0;  ///< the sender's number of it
    std::uint32_t sender = 0;   ///< local rank
    std::uint64_t from = 0;     ///< address in the sender
    std::byte* to = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t chunk_bytes = 0;  ///< 0: by the number of those who may take part
    Steal steal = Steal::automatic;
  };

  // The receiver
  /// Whether both sides' bytes lie in memory that others can map. Asks for nothing.
  [[nodiscard]] bool possible(std::uint32_t sender, std::uint64_t from, const void* to) noexcept;
  /// Whether open() would work now; asks for the sender's memory otherwise.
  [[nodiscard]] bool ready(std::uint32_t sender, std::uint64_t from, std::uint64_t bytes) noexcept;
  [[nodiscard]] std::optional<Id> open(const Wanted& wanted) noexcept;
  /// Whether all of it has been copied. Where others take long it looks whether they live, and does again
  /// what the dead have left.
  [[nodiscard]] bool ended(Id id) noexcept;
  /// Chunks that no process has begun will not be copied; ask ended() all the same.
  void close(Id id) noexcept;
  /// Gives the slot of a copy that has ended back. Returns which processes took part, one bit each.
  std::uint64_t release(Id id) noexcept;

  // Whoever knows the copy
  enum class Step : std::uint8_t {
    copied,     ///< one chunk
    none_left,  ///< all are taken, or it is over
    later,      ///< the other side's memory has been asked for
    refused     ///< it cannot be had
  };
  /// Takes one chunk and copies it. `message`: the message of which the copy must be.
  [[nodiscard]] Step step(Id id, std::uint64_t message) noexcept;

  // Whoever waits
  /// Nothing has come in this pass; `received`: messages so far. Returns the number of chunks copied for
  /// others: 0 or 1.
  int idle(std::uint64_t received) noexcept;
  /// This process is about to sleep.
  void asleep() noexcept {
    if (idle_told_) set_idle(false);
  }

  /// A process has ended: nobody looks at its copies any more.
  void drop(std::uint32_t local_rank) noexcept;
  /// Forgets memory that was freed.
  void tidy() noexcept {
    if (maps_.size() != 0) maps_.drop_freed();
  }

  /// How far a process is from this one; unknown if it has never told, or if a node has these two only.
  [[nodiscard]] Distance distance(std::uint32_t local_rank) noexcept;
  [[nodiscard]] NodeSegment& segment() noexcept { return segment_; }

  struct Counters {
    std::uint64_t opened = 0;  ///< copies
    std::uint64_t own = 0;     ///< chunks of copies that this process took part in as receiver or sender
    std::uint64_t stolen = 0;  ///< chunks copied for others
    std::uint64_t again = 0;   ///< chunks of the dead
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  /// Why stealing is off, or memory could not be had; empty: nothing to say.
  [[nodiscard]] std::string why() const;

 private:
  [[nodiscard]] bool have_board(bool make) noexcept;
  void make_board() noexcept;
  [[nodiscard]] std::uint32_t own_slot(std::uint32_t index) const noexcept {
    return segment_.local_rank() * kSlotsEach + index;
  }
  [[nodiscard]] std::uint64_t own_domain() noexcept;
  [[nodiscard]] std::uint32_t idle_helpers() noexcept;
  [[nodiscard]] Step copy(MappedClaim& claim, const MappedClaim::Offer& offer, BoardSlot& slot) noexcept;
  [[nodiscard]] MemoryMaps::View view(std::uint32_t rank, std::uint64_t address,
                                      std::uint64_t bytes) noexcept;
  void look_for_dead(Id id, MappedClaim& claim) noexcept;
  [[nodiscard]] bool dead(std::uint32_t local_rank) noexcept;
  void offer_to_others() noexcept;
  int steal() noexcept;
  int steal_from(std::uint32_t local_rank) noexcept;
  void set_idle(bool idle) noexcept;

  /// The state of a slot that only its owner knows.
  struct Own {
    CopyTask task;
    bool used = false;
    bool closed = false;          // what is not copied by now need not be
    std::uint64_t looked_ns = 0;  // when all chunks had been taken, or at the last look for the dead
  };

  NodeSegment& segment_;
  Place place_;
  MemoryMaps maps_;
  std::optional<Board> board_;
  std::optional<std::string> refused_;  // why there is no board
  Own own_[kSlotsEach];
  std::uint32_t idle_passes_ = 0;
  std::uint64_t idle_since_ns_ = 0;  // 0: something has come since
  std::uint64_t received_ = 0;
  bool idle_told_ = false;
  Counters counters_;
};

}  // namespace starling::shm
