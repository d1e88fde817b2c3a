// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The shortest way of a put or a get: a row of bytes on both sides, in memory that is mapped here.
/// Layer: mpi. docs/design/onesided.md
///
/// It knows no errors. What is wrong, or unusual in any way, takes the way of transfer.hpp, which looks again
/// and tells.
///
/// Threads:   under the runtime's lock.
/// Units:     bytes; displacements in the target's units.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpi/onesided/synchronise.hpp"
#include "mpi/onesided/transfer.hpp"

namespace starling::mpi {

/// Where a row of `bytes` begins in its target's part, if all that locate() asks is as it should be and
/// there is something to move; else null.
[[nodiscard]] inline std::byte* quick_place(Win& win, int rank, MPI_Aint disp, std::uint64_t bytes) noexcept {
  const auto member = static_cast<std::uint32_t>(rank);  // of what is negative: more than any window has
  if (member >= win.size() || win.overlaps != nullptr || !accessible(win, member)) return nullptr;
  const Target& target = win.target(member);
  std::int64_t offset = 0;
  if (target.path != Path::direct || __builtin_mul_overflow(disp, target.unit, &offset)) return nullptr;
  const auto first = static_cast<std::uint64_t>(offset);  // of what is negative: more than any part has
  if (bytes - 1 >= target.size || first > target.size - bytes) return nullptr;
  return target.at(first);
}

/// The same for `count` elements of the origin and those of `place`, if both are the same row. `bytes`: its
/// length.
[[nodiscard]] inline std::byte* quick_place(Win& win, std::uint64_t count, const Datatype& type,
                                            const Spot& place, std::uint64_t& bytes) noexcept {
  bytes = count * type.size();
  if (!type.contiguous() || !place.type.contiguous() || bytes != place.count * place.type.size())
    return nullptr;
  return quick_place(win, place.rank, place.disp, bytes);
}

template <class Element>
void move_one(void* to, const void* from) noexcept {
  Element element;
  std::memcpy(&element, from, sizeof element);
  std::memcpy(to, &element, sizeof element);
}

/// As memmove(); a single element of the usual sizes is one store, and no call.
inline void move_row(void* to, const void* from, std::uint64_t bytes) noexcept {
  if (bytes == sizeof(std::uint64_t)) {
    move_one<std::uint64_t>(to, from);
  } else if (bytes == sizeof(std::uint32_t)) {
    move_one<std::uint32_t>(to, from);
  } else {
    std::memmove(to, from, bytes);
  }
}

}  // namespace starling::mpi
