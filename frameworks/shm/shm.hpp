// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The shared memory of one node's processes of one job. Layer: framework interface.
///
/// A component finds or makes the node's segment; frameworks/shm/node_segment.hpp is what is in it. Several
/// components may be tried: frameworks/shm/choose.hpp sees to it that all processes of the node end up with
/// the same segment. It is never a collective: only processes that are needed are waited for. See
/// docs/design/shared-memory.md.
///
/// Threads:   called by one thread; the returned mapping may be used by all.
/// Errors:    a full /dev/shm is Errc::no_space with path, needed and free bytes; never SIGBUS.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/clock.hpp"
#include "core/mapping.hpp"
#include "core/result.hpp"
#include "core/unique_fd.hpp"
#include "params/registry.hpp"

namespace starling::shm {

/// Environment variable in which mpiexec names the descriptor of the node's segment (decimal). The descriptor
/// and the variable stay inheritable, since a rank may be a shell that starts the MPI program later.
inline constexpr char kInheritedFdVariable[] = "STARLING_SHM_FD";

/// Which segment: every process of the job on this node computes the same.
struct SegmentSpec {
  std::string job;  ///< pmi::Identity::job
  std::uint32_t node = 0;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 1;
  std::size_t bytes = 0;  ///< whole size; sparse, pages are reserved as they are used
  /// What should be free where the segment is made: less is Errc::no_space. 0: just what must be there.
  std::uint64_t room_bytes = 0;
};

struct Segment {
  UniqueFd fd;  ///< kept open: pages are reserved through it (fallocate)
  Mapping mapping;
  bool inherited = false;  ///< came from mpiexec: no name exists anywhere
};

class Component {
 public:
  virtual ~Component() = default;
  /// The segment that is there already: inherited, or found by its name. Errc::not_found: there is none.
  /// Waits for no other process.
  [[nodiscard]] virtual Result<Segment> find(const SegmentSpec& spec, Deadline deadline) = 0;
  /// Finds the segment or makes it. All bytes are zero when the first process sees it, apart from the header
  /// that NodeSegment::initialise writes.
  [[nodiscard]] virtual Result<Segment> attach(const SegmentSpec& spec, Deadline deadline) = 0;
  /// Whether other processes can find() what attach() made. If not, the segment has to be handed to them, and
  /// one process of the node at a time may call attach() (election.hpp).
  [[nodiscard]] virtual bool has_name() const noexcept = 0;
  /// With a name: a text that is equal for two processes of this system exactly if one can find() what the
  /// other has made; empty: nothing can be made here. Without a name: empty.
  [[nodiscard]] virtual std::string meeting_place() const = 0;
  /// Called once every process of the node has attached (may be never): names can go.
  virtual void all_attached() noexcept = 0;
};

struct Args {
  params::Registry& params;
};

struct Framework {
  using Component = shm::Component;
  using Args = shm::Args;
  static constexpr FixedString<24> kName = "shm";
  static constexpr std::uint32_t kInterface = 3;
};

}  // namespace starling::shm
