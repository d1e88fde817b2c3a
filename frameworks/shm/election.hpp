// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which process makes the node's segment, and how a segment without a name is handed over.
/// Layer: framework. See docs/design/shared-memory.md.
///
/// Elected is who binds a name: an abstract unix socket, which one process at a time can bind. The name
/// belongs to the job and the node, vanishes with its last holder however that ends, and exists within one
/// network namespace. The elected process makes the segment. If that has a name of its own, the election
/// ends, and the others find it. If not, a SegmentServer hands the descriptor to each process that asks,
/// together with the listening socket: every holder can then give, so that no single death takes the segment
/// away.
///
/// Threads:   elect by one thread; a SegmentServer has a thread of its own until it ends or is destroyed.
/// Ownership: descriptors by UniqueFd. The SegmentServer borrows none: it duplicates what it gives.
/// Errors:    a name that belongs to another user is Errc::denied; nothing is taken from or given to another
///            user (SO_PEERCRED).

#include <memory>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "core/unique_fd.hpp"
#include "frameworks/shm/shm.hpp"

namespace starling::shm {

struct Election {
  UniqueFd listener;  ///< the bound socket: whoever holds it is elected, or shares in giving
  UniqueFd memory;    ///< what another process handed over; none: this process is elected
  std::string why;    ///< with memory: why whoever made it took no other candidate
};

/// The name of the socket of this job and node, as people write it: with '@' for the leading zero byte.
[[nodiscard]] std::string election_name(const SegmentSpec& spec);

/// Waits to be elected, or for who is. Empty: that process has given the name up and handed nothing over; a
/// segment may have a name now.
[[nodiscard]] Result<std::optional<Election>> elect(const SegmentSpec& spec, Deadline deadline);

/// Hands a segment to the processes of this job on this node that ask for it.
class SegmentServer {
 public:
  /// Starts giving `memory` through the election's `listener`. `why`: see Election; only its beginning is
  /// passed on.
  [[nodiscard]] static Result<std::unique_ptr<SegmentServer>> start(int memory, UniqueFd listener,
                                                                    const SegmentSpec& spec,
                                                                    const std::string& why = {});
  /// This process gives no more; others that have the segment go on.
  ~SegmentServer();
  SegmentServer(const SegmentServer&) = delete;
  SegmentServer& operator=(const SegmentServer&) = delete;

  /// Everybody has the segment: the giving ends in all processes, and with it the name.
  void end() noexcept;

 private:
  struct State;
  explicit SegmentServer(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace starling::shm
