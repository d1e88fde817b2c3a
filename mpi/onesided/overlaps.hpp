// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Finds operations of one epoch that overlap at a target, and reports them (parameter
/// onesided_check). Layer: mpi. MPI 5.0 section 12.7; docs/design/onesided.md
///
/// The outcome of a put beside another put, a get or an accumulate of the same bytes is undefined. Each
/// origin notes its operations in a log of the target, in the control words of the domain, and compares them
/// with those in the log. Without the parameter there are no logs, and each operation costs one branch.
///
/// Threads:   under the runtime's lock; the logs are written by all members, each under its own lock.
/// Ownership: a Win owns its Overlaps; the logs lie in the window's control words.
/// Errors:    none: the first overlaps of each window are reported on stderr, and nothing else changes.
/// Units:     bytes of the target's part.

#include <atomic>
#include <cstdint>

namespace starling::mpi {

class Win;
struct Located;
struct Spot;

/// The last operations on one member's part. All zero is empty; no page is there before it is used.
struct alignas(64) OverlapLog {
  static constexpr std::uint32_t kEntries = 1024;
  enum class Mode : std::uint8_t { none, fence, started, passive };
  struct Entry {
    std::uint64_t first, end;
    std::uint64_t stamp;  ///< which epoch of its mode
    std::uint32_t origin;
    Mode mode;
    std::uint8_t kind;
  };
  std::atomic<std::uint32_t> busy;  ///< 1: a member reads or writes the log
  std::uint32_t next;               ///< goes around
  /// How often this member has posted, and how often its own operations on passive targets have been
  /// completed.
  std::atomic<std::uint64_t> exposures, completions;
  Entry entries[kEntries];
};

class Overlaps {
 public:
  enum class Kind : std::uint8_t { put, get, accumulate };
  explicit Overlaps(Win& win) noexcept : win_(win) {}

  /// Notes an operation on the target's elements, after all checks.
  void note(Kind kind, const Located& found, const Spot& place);
  void fenced() noexcept { ++fences_; }
  /// This process posts: called before the flags of MPI_Win_post are set.
  void exposed() noexcept;
  /// Operations of this process on passive targets are complete.
  void completed() noexcept;

 private:
  [[nodiscard]] OverlapLog::Entry next_entry(Kind kind, const Located& found) const noexcept;
  void compare(const OverlapLog& log, const OverlapLog::Entry& fresh, std::uint32_t target);
  void tell(const OverlapLog::Entry& fresh, const OverlapLog::Entry& old, std::uint32_t target);

  Win& win_;
  std::uint64_t fences_ = 0;
  std::uint32_t told_ = 0;
};

}  // namespace starling::mpi
