// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A one-sided operation on its way to a target by messages. Layer: mpi. docs/design/onesided.md
///
/// What fits in the message that is being written is gone when the call returns; what is longer, or gets
/// something, is kept as one of these.
///
/// Threads:   under the runtime's lock.
/// Ownership: the channel's until it is complete; datatypes are held, buffers are the program's.
/// Units:     bytes; elements for accumulates.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/datatype/datatype.hpp"
#include "mpi/onesided/wire.hpp"

namespace starling::mpi::message {

/// Elements in the program's memory, kept for later.
struct Kept {
  void* base = nullptr;
  std::uint64_t count = 0;
  Ref<Datatype> type;
};

struct Operation {
  Record head;          ///< what all its records say
  Kept origin;          ///< of what is put
  Kept result;          ///< where it goes what comes back
  Ref<Datatype> there;  ///< the target's elements, unless they lie in a row
  /// Elements of an accumulate in a row, as they are sent; empty: they lie so in the program's memory.
  std::vector<std::byte> row;
  /// As `row`, for what comes back.
  std::vector<std::byte> back;
  std::vector<std::byte> layout;  ///< what is left to send of it
  std::uint64_t layout_sent = 0;
  bool begun = false;
  std::uint64_t unit = 1;   ///< bytes of what is counted: 1, or an element's extent
  std::uint64_t total = 0;  ///< in that unit
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  bool gets = false;         ///< something comes back
  bool carries = true;       ///< something goes there
  std::uint64_t number = 0;  ///< in the order of the calls

  [[nodiscard]] bool all_sent() const noexcept { return sent == total; }
  [[nodiscard]] bool complete() const noexcept { return all_sent() && (!gets || received == total); }
};

}  // namespace starling::mpi::message
