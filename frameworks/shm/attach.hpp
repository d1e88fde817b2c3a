// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What all means of attaching a node segment have in common. Layer: framework; used by the shm
/// plugins.
///
/// Threads: any. Errors: say what was found and what was expected.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "frameworks/shm/shm.hpp"

namespace starling::shm {

/// Whose a segment may be. What was found by a name must be this user's. What mpiexec handed down may be
/// anybody's: a rank may change its user (sudo, setpriv, the entry of a container).
enum class Owner : std::uint8_t { self, anybody };

/// Checks an open descriptor before it is mapped: a regular file of that owner with the expected size and no
/// more than `links` names.
[[nodiscard]] Result<void> check_descriptor(int fd, const SegmentSpec& spec, std::uint64_t links, Owner owner,
                                            std::string_view what);

/// Whether the size of a memfd can still be changed by somebody (then touching it could be a SIGBUS).
[[nodiscard]] bool size_is_sealed(int fd) noexcept;

/// Maps a checked descriptor of a whole segment; waits until its creator has raised ready.
[[nodiscard]] Result<Segment> map_segment(UniqueFd fd, const SegmentSpec& spec, Deadline deadline);

/// Checks and maps a memfd that another process of this job handed over.
[[nodiscard]] Result<Segment> handed_segment(UniqueFd fd, const SegmentSpec& spec, Deadline deadline);

/// The number of the descriptor of the segment that mpiexec made, or -1. It stays open and inheritable.
[[nodiscard]] Result<int> inherited_descriptor();
/// The segment behind it, checked and mapped. Errc::not_found: there is none for this job.
[[nodiscard]] Result<Segment> inherited_segment(int inherited, const SegmentSpec& spec, Deadline deadline);

/// A segment that nobody else can find: for processes that are alone on their node, and to be handed over.
[[nodiscard]] Result<Segment> private_segment(const params::Registry& params, const SegmentSpec& spec);

}  // namespace starling::shm
