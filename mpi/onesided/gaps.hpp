// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What an accumulate does to elements with gaps between them, many runs at a time. Layer: mpi.
/// docs/design/onesided.md
///
/// Runs that begin in one stripe are gathered, worked on as one row, and go back to where they were before
/// the stripe is given away. In another process's private memory they are listed first: the target does a
/// list as an active message, or the kernel copies it here and back.
///
/// Threads:   under the runtime's lock.
/// Errors:    the Work's.
/// Units:     bytes; elements where the name says so.

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpi/onesided/control.hpp"
#include "mpi/onesided/elements.hpp"
#include "mpi/onesided/work.hpp"

namespace starling::mpi {

class GapWork {
 public:
  /// `in` and `out`: as of Work::run(), for all that is added, which is so many elements. finish() ends it.
  GapWork(Work& work, const std::byte* in, std::byte* out, std::uint64_t elements) noexcept;

  /// The series' displacement counts from this offset of the target's part.
  void add(std::uint64_t offset, const Runs& series) noexcept;
  void finish() noexcept {
    if (listed_ != 0) flush();
  }

 private:
  static constexpr std::size_t kMost = ActiveMessage::kMost;  // bytes of a list and its elements
  static constexpr std::size_t kSeries = kMost / sizeof(ActiveMessageRuns) / 2;

  void run(std::uint64_t offset, std::uint64_t count) noexcept;
  void pass(std::uint64_t bytes) noexcept;
  void mapped(std::uint64_t offset, const Runs& series) noexcept;
  void gathered(std::uint64_t offset, const Runs& series) noexcept;
  void list(const ActiveMessageRuns& series) noexcept;
  [[nodiscard]] bool join(const ActiveMessageRuns& series) noexcept;
  void flush() noexcept;
  void by_kernel() noexcept;

  Work& work_;
  const std::byte* in_;
  std::byte* out_;
  std::size_t most_;
  bool insists_;             // many lists come: to ask once for nothing costs little beside them
  bool asks_ = true;         // the target has heard so far
  std::size_t listed_ = 0;   // series
  std::uint64_t bytes_ = 0;  // of their elements
  std::array<ActiveMessageRuns, kSeries> all_;
};

}  // namespace starling::mpi
