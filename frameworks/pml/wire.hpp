// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What two pmls say to each other. Layer: framework (pml).
///
/// An eager envelope is 24 bytes, so that it fits into one 56-byte lane cell with up to 32 bytes of payload;
/// an RTS is exactly 56. What all messages have in common: frameworks/peer/wire.hpp. See docs/design/pml.md
/// for who sends what when.
/// Threads: value types.
/// Units: bytes.

#include <cstddef>
#include <cstdint>

#include "frameworks/peer/wire.hpp"

namespace starling::pml::wire {

using peer::wire::bytes_of;
using peer::wire::kHeaderMax;
using peer::wire::read;

enum class Kind : std::uint8_t {
  eager = 1,           ///< Envelope, payload
  eager_sync = 2,      ///< SyncEnvelope, payload: the receiver answers sync_ack when it is matched
  rts = 3,             ///< Rts: a message whose data stay with the sender for now
  cts = 4,             ///< Cts: push these bytes
  data = 5,            ///< Data, payload: the next bytes of a transfer, in order
  fin = 6,             ///< Answer: the receiver wants nothing of this send
  sync_ack = 7,        ///< Answer: the synchronous send has matched
  credit = 8,          ///< Prefix: `length` bytes of eager credit come back
  cancel = 10,         ///< SyncEnvelope: take this unmatched message back
  cancel_answer = 11,  ///< Answer, with kGranted or without
  data_at = 13,        ///< DataAt, payload: bytes of a transfer that may come by several paths
  held = 15,           ///< Envelope: more of this context waits at the sender until earlier ones have matched
  go_on = 16,          ///< Envelope: send more of this context, something here waits for a message
  lender = 17,         ///< Lender: how the sender's memory can be borrowed
  lent = 18,           ///< Data without payload: `length` bytes of a transfer have been lent
  taken = 19,     ///< Answer: `length` lent bytes have been copied; the id of a send: with them it has all
  got = 20,       ///< Answer: the receiver has got what it wants of this send
  borrow = 21,    ///< Cts: lend these bytes instead of sending them
  grant = 22,     ///< Grant: a buffer that the peer may write a message to
  returned = 23,  ///< Grant: it will not be written to
  pushed = 24,    ///< Pushed: a message whose data lie in a granted buffer
  invite = 25,    ///< Invite: a receive that waits for a message of the peer's
  early = 26,     ///< Early: a message that was written into the buffer of a receive that waited
  parted = 27,    ///< Parted, payload: the first part of an eager message
  part = 28       ///< Prefix, payload: its next part
};

/// Kinds from here to 255 are for the protocols that plugins bring.
inline constexpr Kind kOwnKinds{128};

// Prefix::flags
inline constexpr std::uint8_t kContiguous = 1;  ///< rts: the sender's buffer is
inline constexpr std::uint8_t kStalled = 2;     ///< rts: short enough to be eager, but out of credit
inline constexpr std::uint8_t kGranted = 4;     ///< cancel_answer: the message had not matched and is gone
inline constexpr std::uint8_t kInvite = 16;     ///< rts: from now on the receiver may send invitations for
                                                ///< receives of this length
inline constexpr std::uint8_t kUnwritten = 8;   ///< early: it was not written; the message follows as an
                                                ///< ordinary one

/// length: payload bytes (credit: bytes returned)
using Prefix = peer::wire::PrefixOf<Kind>;

struct Envelope {
  Prefix prefix;
  std::uint64_t context = 0;
  std::int32_t tag = 0;
  std::int32_t source = 0;  ///< the sender's rank in the context
};

struct SyncEnvelope {
  Envelope envelope;
  std::uint64_t sender_id = 0;
};

/// What a protocol of the sender says of the sender's memory (Protocol::offer). get uses both words.
struct Offer {
  std::uint64_t address = 0;
  std::uint64_t access_domain = 0;  ///< whose gets may read there (btl::Limits::get_access_domain)
};

struct Rts {
  Envelope envelope;
  std::uint64_t length = 0;
  std::uint64_t sender_id = 0;
  Offer offer;
};

struct Cts {
  Prefix prefix;
  std::uint64_t sender_id = 0;
  std::uint64_t receiver_id = 0;
  std::uint64_t offset = 0;  ///< the first byte wanted: not 0 when a get failed half-way
  std::uint64_t bytes = 0;   ///< wanted from there on: less than the rest when the receive is too short
};

struct Data {
  Prefix prefix;
  std::uint64_t receiver_id = 0;
};

struct Answer {
  Prefix prefix;
  std::uint64_t sender_id = 0;
};

struct DataAt {
  Data data;
  std::uint64_t offset = 0;  ///< in the whole message
};

struct Lender {
  Prefix prefix;
  std::uint64_t words[2] = {};  ///< btl::LoanOffer
};

struct Grant {
  Prefix prefix;
  std::uint64_t context = 0;
  std::int32_t tag = 0;
  std::int32_t source = 0;    ///< the receiver's rank in the context
  std::uint64_t handle = 0;   ///< the receiver's name for the buffer
  std::uint64_t address = 0;  ///< in the receiver
  std::uint64_t bytes = 0;
};

struct Pushed {
  Envelope envelope;
  std::uint64_t length = 0;
  std::uint64_t handle = 0;  ///< of the grant
};

struct Invite {
  Prefix prefix;
  std::uint64_t context = 0;
  std::int32_t tag = 0;
  std::uint32_t permit = 0;    ///< which of the receiver's words
  std::uint64_t address = 0;   ///< in the receiver
  std::uint64_t bytes = 0;     ///< at most
  std::uint64_t position = 0;  ///< of the message that may be written (Peer::taken)
  std::uint64_t generation = 0;
};

struct Early {
  Envelope envelope;
  std::uint64_t length = 0;
  std::uint64_t generation = 0;  ///< of the invitation
};

/// The prefix has the bytes of this part.
struct Parted {
  Envelope envelope;
  std::uint64_t length = 0;  ///< of all parts
};

static_assert(sizeof(Parted) == 32 && offsetof(Parted, length) == 24);
static_assert(sizeof(Invite) == 56 && offsetof(Invite, address) == 24 && sizeof(Invite) <= kHeaderMax);
static_assert(sizeof(Early) == 40 && offsetof(Early, length) == 24 && sizeof(Early) <= kHeaderMax);
static_assert(sizeof(Grant) == 48 && offsetof(Grant, handle) == 24 && sizeof(Grant) <= kHeaderMax);
static_assert(sizeof(Pushed) == 40 && offsetof(Pushed, length) == 24 && sizeof(Pushed) <= kHeaderMax);
static_assert(sizeof(Envelope) == 24 && offsetof(Envelope, context) == 8 && offsetof(Envelope, tag) == 16 &&
              offsetof(Envelope, source) == 20);
static_assert(sizeof(SyncEnvelope) == 32 && offsetof(SyncEnvelope, sender_id) == 24);
static_assert(sizeof(Rts) == 56 && offsetof(Rts, length) == 24 && offsetof(Rts, offer) == 40);
static_assert(sizeof(Cts) == 40 && offsetof(Cts, bytes) == 32);
static_assert(sizeof(Data) == 16 && sizeof(Answer) == 16);
static_assert(sizeof(DataAt) == 24);
static_assert(sizeof(Rts) <= kHeaderMax);
static_assert(sizeof(Lender) == 24 && offsetof(Lender, words) == 8);

}  // namespace starling::pml::wire
