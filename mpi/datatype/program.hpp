// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The compiled form of a datatype: what copies bytes. Layer: mpi. Design: docs/design/datatypes.md.
///
/// A program is a small tree of steps in flat arrays. Adjacent bytes are one run; equal runs at equal
/// distances are one strided step, at any distances one uniform step; nested regularity is a repeat. Work
/// from any packed offset starts after O(depth + log(entries)).
///
/// Threads:   immutable after compile(); any.
/// Ownership: shared by a type and its duplicates.
/// Errors:    running cannot fail; the caller's buffer holds what the type says.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/datatype/typemap.hpp"

namespace starling::mpi {

struct Step {
  enum class Kind : std::uint8_t {
    run,      ///< `block` bytes at displacement
    strided,  ///< count runs of `block` bytes, `stride` apart
    uniform,  ///< count runs of `block` bytes at displacement + displacements[first + i]
    indexed,  ///< count runs at displacements[first + i], packed offsets offsets[first + i]; `block` is 8
              ///< if all of them are whole 8-byte words
    repeat,   ///< count times steps[child], `stride` apart
    each,     ///< steps[child] at displacements[first + i], i < count
    sequence  ///< steps[child + i], packed offsets offsets[first + i], i < count
  };
  Kind kind = Kind::run;
  std::int64_t displacement = 0;
  std::uint64_t size = 0;  ///< packed bytes of the step
  std::uint64_t count = 1;
  std::int64_t stride = 0;
  std::uint64_t block = 0;
  std::size_t first = 0;
  std::size_t child = 0;
};

class Program {
 public:
  /// Compiles one element; `extent` is the distance between elements.
  [[nodiscard]] static std::shared_ptr<const Program> compile(const Placed& map, std::int64_t extent);

  /// Copies packed bytes [offset, offset + bytes) of `count` elements at `base` to `to`, or the other way
  /// round.
  void pack(const void* base, std::uint64_t count, std::uint64_t offset, std::byte* to,
            std::size_t bytes) const noexcept;
  void unpack(void* base, std::uint64_t count, std::uint64_t offset, const std::byte* from,
              std::size_t bytes) const noexcept;

  [[nodiscard]] const Step& root() const noexcept { return root_; }
  [[nodiscard]] std::string describe() const;

 private:
  friend class Compiler;
  template <bool kPack>
  friend class Mover;
  template <bool kPack>
  void move(std::uintptr_t base, std::uint64_t count, std::uint64_t offset, std::byte* stream,
            std::size_t bytes) const noexcept;
  /// All `count` elements as one step.
  [[nodiscard]] Step elements(std::uint64_t count) const noexcept;

  Step root_;
  std::int64_t extent_ = 0;
  std::vector<Step> steps_;
  std::vector<std::int64_t> displacements_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace starling::mpi
