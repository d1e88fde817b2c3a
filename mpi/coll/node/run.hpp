// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What one round of a reduction works on: elements of the operands and of the result. Layer: mpi.
/// MPI 5.0 section 6.9. docs/design/node-collectives.md
///
/// Results grow from the highest rank downwards, because an operation computes inout = in op inout with the
/// lower ranks in `in`. Dense types only.
/// Threads: values. Ownership: borrows the arguments. Units: elements.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/copy.hpp"
#include "mpi/coll/arguments.hpp"
#include "mpi/coll/node/board.hpp"

namespace starling::mpi::coll::node {

class Run {
 public:
  Run(const Reduce& asked, std::uint64_t first, std::uint64_t count) noexcept
      : asked_(asked), first_(first), count_(count) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return count_ * asked_.type.size; }
  [[nodiscard]] const std::byte* own() const noexcept {
    return element(asked_.in_place ? asked_.receive : asked_.send, first_, asked_.type);
  }
  [[nodiscard]] std::byte* result() const noexcept { return element(asked_.receive, first_, asked_.type); }
  /// to = to's first operand
  void set(std::byte* to, const std::byte* from) const noexcept {
    if (to != from) copy_payload(to, from, bytes());
  }
  /// to = from op right; `to` may be `right`.
  void combine(const std::byte* from, const std::byte* right, std::byte* to) const noexcept {
    asked_.operation.apply(asked_.operation, from, right, to, count_, asked_.type);
  }

 private:
  const Reduce& asked_;
  std::uint64_t first_, count_;
};

/// A partial result that grows to the left. A single operand stays where it stands, so that two of them are
/// combined into the result in one pass.
class Growth {
 public:
  /// `value`: an operand to begin with, or the result so far.
  Growth(const Run& run, std::byte* to, const std::byte* value = nullptr) noexcept
      : run_(run), to_(to), value_(value) {}

  void prepend(const std::byte* operand) noexcept {
    if (value_ == nullptr) {
      value_ = operand;
    } else {
      run_.combine(operand, value_, to_);
      value_ = to_;
    }
  }
  /// Reads members [begin, end) from the last to the first. Once members disagree, operands are waited for
  /// but not combined. False: a member has died.
  [[nodiscard]] bool prepend_members(Board& board, std::uint32_t begin, std::uint32_t end) noexcept {
    for (std::uint32_t member = end; member-- > begin;) {
      const std::byte* const operand = board.read(member);
      if (operand == nullptr) return false;
      if (board.equal()) [[likely]]
        prepend(operand);
    }
    return true;
  }
  /// The result lies where it is wanted, if there is one.
  void finish() const noexcept {
    if (value_ != nullptr) run_.set(to_, value_);
  }

 private:
  const Run& run_;
  std::byte* to_;
  const std::byte* value_;
};

/// Fills the own cell; null: a member has died.
[[nodiscard]] inline std::byte* give(Board& board, const std::byte* value, std::size_t bytes) {
  std::byte* const cell = board.cell();
  if (cell != nullptr) copy_first_line_last(cell, value, bytes);
  return cell;
}

/// What all members of a reduction have to agree about.
[[nodiscard]] inline CallSignature signature_of(const Reduce& asked) noexcept {
  return CallSignature(asked.count * asked.type.size, asked.operation.code);
}

/// Elements that go into a cell at once.
[[nodiscard]] inline std::uint64_t elements_of_cell(const Board& board, const Type& type) noexcept {
  return board.capacity() / type.size;
}
/// As above, where some members only write and others only read.
[[nodiscard]] inline std::uint64_t elements_of_piece(const Board& board, const Type& type) noexcept {
  return std::max<std::uint64_t>(board.piece() / type.size, 1);
}

}  // namespace starling::mpi::coll::node
