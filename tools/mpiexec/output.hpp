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
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  [[nodiscard]] int fd() const noexcept { return to_; }
  /// How many descriptors it has opened.
  [[nodiscard]] unsigned opened() const noexcept { return terminal_ ? 1 : 0; }
  /// Where both lead to the same place (`2>&1`) neither writes into a line of the other. `other` stays alive.
  void spare_lines_of(Output& other) noexcept;
  /// Whole lines of mpiexec's own, which may be lost.
  void add(std::string_view text);
  /// What a rank has written, which may not.
  void add_of_rank(std::string_view text);
  /// Writes what can be written without waiting.
  void flush();
  /// Whether something is left to be written.
  [[nodiscard]] bool waiting() const noexcept { return !unwritten_.empty(); }
  /// After an error by which something of a rank's was lost, for people: which stream, and why; empty:
  /// nothing was. After an error all text is dropped.
  [[nodiscard]] std::string problem() const;

 private:
  int to_;
  UniqueFd terminal_;  ///< the same terminal, to write without waiting; none: it is none
  std::string unwritten_;
  bool of_rank_ = false;     ///< some of what was not written is a rank's
  bool in_line_ = false;     ///< what was written ends within a line, so its rest is in unwritten_
  Output* other_ = nullptr;  ///< that leads to the same place; none: there is none
  int error_ = 0;
};

class LabelledPipe {
 public:
  LabelledPipe() = default;
  /// Lines read from `from` go out behind `label`, before which the time may stand.
  LabelledPipe(UniqueFd from, std::string label, bool times = false)
      : from_(std::move(from)), label_(std::move(label)), times_(times) {}

  [[nodiscard]] bool open() const noexcept { return static_cast<bool>(from_); }
  /// Moves what is there and `to` takes without waiting; not all if there is much of it, so that others have
  /// their turn: then true. At the end of the pipe an unfinished line is finished.
  bool pump(Output& to);
  /// From now on only what is there already is moved: then the pipe ends, whoever still holds the other end.
  void take_no_more() noexcept;

 private:
  void give_lines(Output& to, bool all);

  UniqueFd from_;
  std::string label_;
  bool times_ = false;
  std::string held_;             ///< an unfinished line
  std::size_t left_ = SIZE_MAX;  ///< bytes until take_no_more() is obeyed
};

}  // namespace starling::mpiexec
