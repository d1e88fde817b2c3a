// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the network btls put on the wire. Layer: framework.
///
/// One frame is one message of the library: a head, then records. A record is {length 4, zero 4}, the bytes,
/// and zeros up to a multiple of 16. So messages lie at 8 from a multiple of 16, and what follows the 24
/// bytes of an eager envelope lies as memory of malloc would, where it can be kept. A frame has several
/// records where messages had to wait: the kernel's cost per frame is then paid once.
///
/// Threads: value types. Units: bytes; numbers as the processor has them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace starling::btl::net {

enum class FrameKind : std::uint16_t {
  messages = 0,
  // Closing an idle connection takes both sides; these frames have no records.
  ask_close = 1,    ///< nothing follows on this stream until the answer
  agree_close = 2,  ///< nor on this one: both are empty then
  refuse_close = 3,
  // Of the sender itself; no records either.
  leaving = 4,  ///< it has left MPI in order: its end is no loss
  back = 5,     ///< it is back; so is one that sends messages
  // Gets that the owner of the memory serves, with an AskData behind the head instead of records.
  ask_data = 6,    ///< send these bytes to the receive of that tag
  refuse_data = 7  ///< they will not come
};
inline constexpr FrameKind kLastFrameKind = FrameKind::refuse_data;

struct FrameHead {
  std::uint64_t token = 0;   ///< the receiver's, from its address: the frame is meant for it and nobody else
  std::uint32_t rank = 0;    ///< the sender's rank in the world
  std::uint16_t layout = 2;  ///< of this page
  FrameKind kind = FrameKind::messages;
};
static_assert(sizeof(FrameHead) == 16 && std::is_trivially_copyable_v<FrameHead>);

struct AskData {
  std::uint64_t address = 0;  ///< of the one who is asked
  std::uint64_t key = 0;      ///< RemoteBuffer's
  std::uint64_t bytes = 0;
  std::uint64_t tag = 0;  ///< chosen by who asks
};
static_assert(sizeof(AskData) == 32 && std::is_trivially_copyable_v<AskData>);

struct RecordHead {
  std::uint32_t bytes = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(RecordHead) == 8 && std::is_trivially_copyable_v<RecordHead>);

/// What a message of `message` bytes takes in a frame.
constexpr std::size_t record_bytes(std::size_t message) noexcept {
  return (sizeof(RecordHead) + message + 15) / 16 * 16;
}

/// Calls `take(span)` for each message of a frame whose head has been checked. False: the records do not fit
/// the frame; those before the damage have been delivered.
template <class Take>
bool for_each_record(std::span<const std::byte> records, Take take) {
  while (!records.empty()) {
    RecordHead head;
    if (records.size() < sizeof(head)) return false;
    std::memcpy(&head, records.data(), sizeof(head));
    if (head.bytes > records.size() - sizeof(head) || record_bytes(head.bytes) > records.size()) return false;
    take(records.subspan(sizeof(head), head.bytes));
    records = records.subspan(record_bytes(head.bytes));
  }
  return true;
}

}  // namespace starling::btl::net
