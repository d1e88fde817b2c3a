// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Labelled output: whole lines of a rank's pipe, each with the rank before it. Layer: tools.
///
/// Threads: one. Ownership: owns the pipe's reading end. Errors: what cannot be written is reported once by
/// pump().

#include <cstdint>
#include <string>

#include "core/unique_fd.hpp"

namespace starling::mpiexec {

class LabelledPipe {
 public:
  LabelledPipe() = default;
  /// Lines read from `from` go to descriptor `to` behind "[label] ".
  LabelledPipe(UniqueFd from, int to, std::string label)
      : from_(std::move(from)), to_(to), label_(std::move(label)) {}

  [[nodiscard]] int fd() const noexcept { return from_.get(); }
  [[nodiscard]] bool open() const noexcept { return static_cast<bool>(from_); }
  enum class State : std::uint8_t { more, ended, unwritable };
  /// Moves what is there, without waiting for more. At the end of the pipe an unfinished line is finished.
  [[nodiscard]] State pump();
  /// After State::unwritable, for people: which stream, and why.
  [[nodiscard]] std::string problem() const;

 private:
  [[nodiscard]] bool write_lines(bool all);

  UniqueFd from_;
  int to_ = -1;
  std::string label_;
  std::string held_;  ///< an unfinished line
  int error_ = 0;     ///< of the last write
};

}  // namespace starling::mpiexec
