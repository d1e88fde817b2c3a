// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  mpiexec's own output: labelled lines of the ranks' pipes, and its messages. Layer: tools.
///
/// Nothing here waits for whoever reads it: who has stopped reading must not keep mpiexec from answering to
/// signals, deadlines and other ranks.
/// Threads: one. Ownership: a pipe's reading end. Errors: what cannot be written is reported by
/// Output::problem().

#include <cstdint>
#include <string>
#include <string_view>

#include "core/unique_fd.hpp"

namespace starling::mpiexec {

/// Descriptor 1 or 2, and what could not be written to it yet.
class Output {
 public:
  explicit Output(int to) noexcept;

  [[nodiscard]] int fd() const noexcept { return to_; }
  /// How many descriptors it has opened.
  [[nodiscard]] unsigned opened() const noexcept { return terminal_ ? 1 : 0; }
  void add(std::string_view text);
  /// Writes what can be written without waiting.
  void flush();
  /// Whether something is left to be written.
  [[nodiscard]] bool waiting() const noexcept { return !unwritten_.empty(); }
  /// After an error, for people: which stream, and why; empty: there was none. From then on all text is
  /// dropped.
  [[nodiscard]] std::string problem() const;

 private:
  int to_;
  UniqueFd terminal_;  ///< the same terminal, to write without waiting; none: it is none
  std::string unwritten_;
  int error_ = 0;
};

class LabelledPipe {
 public:
  LabelledPipe() = default;
  /// Lines read from `from` go out behind "[label] ".
  LabelledPipe(UniqueFd from, std::string label) : from_(std::move(from)), label_(std::move(label)) {}

  [[nodiscard]] bool open() const noexcept { return static_cast<bool>(from_); }
  /// Moves what is there and `to` takes without waiting; not all if there is much of it, so that others have
  /// their turn: then true. At the end of the pipe an unfinished line is finished.
  bool pump(Output& to);

 private:
  void give_lines(Output& to, bool all);

  UniqueFd from_;
  std::string label_;
  std::string held_;  ///< an unfinished line
};

}  // namespace starling::mpiexec
