// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The basic elements that typemaps are made of. Layer: mpi. MPI 5.0 sections 3.2.2, 6.9.2, 14.5.2.
///
/// A Basic says how an element is represented in memory and in external32; two MPI names with one
/// representation share it (MPI_INT and MPI_INTEGER are int32). Which reductions a predefined type takes is
/// its OpClass.
/// Threads: constant data.
/// Units: bytes.

#include <cstddef>
#include <cstdint>

namespace starling::mpi {

enum class Basic : std::uint8_t {
  none,  ///< not one basic element: a derived type
  byte,
  packed,
  character,
  wide_character,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  int128,
  c_long,
  c_unsigned_long,  ///< 4 bytes in external32
  float16,
  float32,
  float64,
  long_double,
  float128,
  complex16,
  complex32,
  complex64,
  complex_long_double,
  complex128,  ///< two of float16 ... float128
  boolean,
  logical8,
  logical16,
  logical32,
  logical64,
  logical128,
  // The pairs of MINLOC and MAXLOC: C structs {value, index}. Their typemaps have two elements.
  float32_int,
  float64_int,
  long_int,
  short_int,
  long_double_int,
  int32_pair,
  float32_pair,
  float64_pair
};
inline constexpr std::size_t kBasics = static_cast<std::size_t>(Basic::float64_pair) + 1;
constexpr std::size_t to_index(Basic basic) noexcept { return static_cast<std::size_t>(basic); }

/// The groups of types of MPI 5.0 section 6.9.2 that decide which predefined operations are allowed.
enum class OpClass : std::uint8_t {
  none,
  c_integer,
  fortran_integer,
  multi_language,
  floating,
  logical,
  complex,
  byte,
  pair
};

struct BasicInfo {
  std::uint32_t bytes;   ///< sum of the elements' bytes, without padding
  std::uint32_t extent;  ///< sizeof in memory
  std::uint32_t align;
  std::uint32_t external_bytes;  ///< in external32; 0 for pairs, whose parts are converted one by one
  Basic first, second;           ///< the parts of a pair; none otherwise
  std::uint32_t second_offset;   ///< where the second part of a pair begins
};

[[nodiscard]] const BasicInfo& info_of(Basic basic) noexcept;

}  // namespace starling::mpi
