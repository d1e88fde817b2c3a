// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Tells a program that loops around MPI_Test from one that asks between computations. Layer: mpi.
/// docs/design/waiting.md
///
/// Threads: one at a time. Units: nanoseconds.

#include <cstdint>

namespace starling::mpi {

class PollLoop {
 public:
  /// Who asks again within this time has done nothing else.
  static constexpr std::uint64_t kAtOnceNs = 5'000;
  /// After how many questions in a row the program counts as waiting.
  static constexpr std::uint32_t kQuestions = 8;

  /// A question that found nothing. Returns whether the program waits.
  [[nodiscard]] bool ask(std::uint64_t now) noexcept {
    in_a_row_ = now - last_ns_ < kAtOnceNs ? in_a_row_ + 1 : 1;
    last_ns_ = now;
    return in_a_row_ >= kQuestions;
  }
  /// The process had given its core away until now; the program has not computed meanwhile.
  void resumed(std::uint64_t now) noexcept { last_ns_ = now; }

 private:
  std::uint64_t last_ns_ = 0;
  std::uint32_t in_a_row_ = 0;
};

}  // namespace starling::mpi
