// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the members of a window say to each other. Layer: mpi. docs/design/onesided.md
///
///     Head | (Record | payload)...
///
/// Behind the prefix that all messages have (frameworks/peer/wire.hpp). Nothing is aligned: read() copies.
///
/// Threads: value types. Units: bytes, unless a field says elements.

#include <cstddef>
#include <cstdint>

#include "frameworks/peer/wire.hpp"

namespace starling::mpi::message {

using peer::wire::bytes_of;
using peer::wire::read;

/// The kind of these messages. The kinds of the pml end far below it (frameworks/pml/wire.hpp), and those of
/// its plugins' protocols begin at 128. Ports::add refuses a kind that two ports want.
inline constexpr std::uint8_t kKind = 96;

enum class What : std::uint8_t {
  // To the target, in the order in which the origin has called them.
  layout,      ///< a datatype by this number, or a piece of it; count: bytes of all of it
  put,         ///< payload to the target's memory
  get,         ///< count2 bytes of it come back
  accumulate,  ///< payload, combined with elements there
  fetch,       ///< as accumulate, and count2 elements that were there come back
  swap,        ///< payload: the expected value and the new one; the value that was there comes back
  lock,        ///< before anything that follows; op: 0 shared, 1 exclusive
  unlock,
  post,      ///< the sender's memory is exposed to the receiver (MPI_Win_post)
  complete,  ///< the sender's access to the receiver's memory has ended (MPI_Win_complete)
  leave,     ///< the sender frees the window, and knows of a member that has died
  // To the origin.
  done,    ///< count: what has been done so far, in the unit of Head::cost
  data,    ///< what an operation gets
  failed,  ///< op: 0; count: error class; token: of the operation, or 0 if nothing was to come back; payload:
           ///< text
  gone     ///< the sender has no such window: it was freed there
};

inline constexpr std::uint16_t kAnswer = 1;  ///< Head: say `done` when you are through with it
inline constexpr std::uint16_t kBack = 2;    ///< Head: the records are for an origin
/// Head::rank of `gone`: a process without the window knows no rank in it.
inline constexpr std::uint32_t kUnknownRank = ~std::uint32_t{0};
inline constexpr std::uint8_t kFirst = 1;  ///< Record, lock: goes before those who wait and hold nothing

struct Head {
  std::uint64_t window = 0;  ///< id of its communicator
  std::uint32_t rank = 0;    ///< the sender's
  std::uint16_t flags = 0;
  std::uint16_t unused = 0;
  std::uint64_t cost = 0;  ///< bytes, of this message and of what it makes the target send
};

struct Record {
  What what{};
  std::uint8_t op = 0;     ///< OpCode
  std::uint8_t basic = 0;  ///< Basic of the elements
  std::uint8_t flags = 0;
  std::uint32_t bytes = 0;   ///< of the payload
  std::uint64_t offset = 0;  ///< of the first element in the target's part; its address in a dynamic window
  std::uint64_t count = 0;   ///< elements of the layout
  std::uint64_t first = 0;   ///< where it begins: packed bytes; of accumulates elements
  std::uint64_t count2 = 0;
  std::uint64_t token = 0;   ///< the origin's number of an operation that gets something
  std::uint32_t layout = 0;  ///< 0: in a row, and count is not used
  std::uint32_t unused = 0;
};
static_assert(sizeof(Head) == 24 && sizeof(Record) == 56);

/// How much a member may have sent to another one that has not been done there yet. The target tells how far
/// it is at least after each quarter of this.
inline constexpr std::uint64_t kWindowBytes = 256 * 1024;

}  // namespace starling::mpi::message
