// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One send or receive in progress. Layer: framework interface.
///
/// Threads:   `complete` is stored with release order by the thread that progresses, and read with acquire by
///            the one that waits; everything else is touched under the runtime's lock.
/// Ownership: the caller's (mpi/ pools them); it must stay in place until complete. The pml links it into its
///            queues.
/// Units:     bytes.

#include <atomic>
#include <cstdint>

#include "core/ids.hpp"
#include "frameworks/peer/fault.hpp"
#include "frameworks/pml/layout.hpp"

namespace starling::pml {

class Context;
struct Peer;

using peer::Fault;
using peer::peer_gone;

struct Status {
  Rank source{0};
  Tag tag{0};
  Fault fault = Fault::none;
  bool cancelled = false;
  std::uint64_t bytes = 0;  ///< received (after truncation: what fitted)
};

/// Buffered sends are mpi/'s: a copy and a standard send.
enum class Mode : std::uint8_t { standard, synchronous, ready };

struct Request {
  std::atomic<bool> complete{false};
  Status status;

  // What was asked for.
  Buffer buffer;
  Context* context = nullptr;
  Rank rank{0};  ///< destination, or source (may be the wildcard) of a receive
  Tag tag{0};
  Mode mode = Mode::standard;
  bool receive = false;

  // The pml's own state: opaque to callers.
  Request* next = nullptr;
  Request* previous = nullptr;
  Peer* peer = nullptr;
  std::uint64_t order = 0;  ///< posting stamp (receives that have not matched), or id of the transfer
  std::uint64_t total = 0;  ///< bytes of the whole message, where it was too long for its receive
  std::uint32_t phase = 0;
  std::uint32_t flags = 0;
  std::uint64_t started_ns = 0;  ///< when note_time() first saw it pending; 0 when posted
};

inline constexpr Rank kAnySource{-1};
inline constexpr Tag kAnyTag{-2};

}  // namespace starling::pml
