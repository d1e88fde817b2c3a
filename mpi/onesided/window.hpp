// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What an MPI_Win stands for. Layer: mpi. MPI 5.0 chapter 12; docs/design/onesided.md
///
/// Threads:   under the runtime's lock, which waiting releases. The memory and the control words are used by
///            all members at once.
/// Ownership: a window owns its private communicator and its maps of other members' memory; its handle is the
///            only reference.
/// Errors:    MPI error classes (mpi/error.hpp).
/// Units:     bytes; displacements in the target's units where the name says so.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/mapping.hpp"
#include "mpi.h"
#include "mpi/attribute/attributes.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/errhandler/errhandler.hpp"
#include "mpi/handles.hpp"
#include "mpi/info/info.hpp"
#include "mpi/onesided/active_messages.hpp"
#include "mpi/onesided/control.hpp"
#include "mpi/onesided/control_extent.hpp"
#include "mpi/onesided/target.hpp"

namespace starling::mpi {

namespace message {
class Part;
}

/// The members whose processes share control words with this one: those of its node, as a rule.
struct Domain {
  std::vector<std::uint32_t> local_peers;  ///< ranks, ascending, this one among them: by seat
  std::uint32_t seat = 0;                  ///< this one's
};

/// What a window is made of.
struct WinParts {
  Mapping control;              ///< control words of the domain, and its part of an allocated window
  ControlExtent extent;         ///< or the control words alone, or all of a small window
  std::vector<Mapping> mapped;  ///< other members' memory objects
  Domain domain;
  std::vector<Target> targets;
  std::vector<Target>
      near;  ///< of a dynamic window, by seat: a second path to local peers (Path::copy), if any
  bool contiguous = false;  ///< the parts of MPI_Win_allocate_shared follow each other, rank by rank
};

class Win final : public GuardedObject {
 public:
  Win(Comm& comm, int flavor) noexcept;
  ~Win() override;

  [[nodiscard]] Comm& comm() const noexcept { return *comm_; }
  [[nodiscard]] std::uint32_t rank() const noexcept { return comm_->rank(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return comm_->size(); }
  [[nodiscard]] int flavor() const noexcept { return flavor_; }
  [[nodiscard]] const Target& target(std::uint32_t rank) const noexcept { return parts_.targets[rank]; }
  [[nodiscard]] const Target& own() const noexcept { return parts_.targets[rank()]; }
  [[nodiscard]] const Control& control() const noexcept { return control_; }
  [[nodiscard]] PostWords<Control> posts() const noexcept { return PostWords<Control>(control_); }
  [[nodiscard]] bool contiguous() const noexcept { return parts_.contiguous; }
  [[nodiscard]] const Domain& domain() const noexcept { return parts_.domain; }
  /// This process among the local peers of its domain, by which it is known to the control words.
  [[nodiscard]] std::uint32_t seat() const noexcept { return parts_.domain.seat; }
  /// The local rank of who has a seat.
  [[nodiscard]] std::uint32_t local_rank_of(std::uint32_t seat) const noexcept {
    return target(parts_.domain.local_peers[seat]).local_rank;
  }

  /// Of a dynamic window: the path to bytes that a local peer has surely attached; null: by messages.
  [[nodiscard]] const Target* near(std::uint32_t rank, std::uint64_t address,
                                   std::uint64_t bytes) const noexcept;

  /// How people know it: "window 'grid' of 4 ranks".
  [[nodiscard]] std::string label() const;
  /// "window 'grid' of 4 ranks, target 2 (4096 bytes)"
  [[nodiscard]] std::string label(std::uint32_t target) const;

  /// Once, when all is there.
  void take(WinParts parts, Control::More more);

  /// What the attributes point to (section 12.2.6).
  struct Constants {
    void* base = nullptr;
    MPI_Aint size = 0;
    int unit = 1;
    int flavor = 0;
    int model = MPI_WIN_UNIFIED;
  };
  Constants constants;
  Ref<Errhandler> errhandler;
  std::unique_ptr<Overlaps> overlaps;  ///< null: they are not looked for
  AttributeSet attributes;
  std::string name;
  Ref<Info> info;  ///< hints that were given, or empty

  /// Of a dynamic window: attached memory, sizes by addresses.
  std::map<std::uint64_t, std::uint64_t> regions;
  /// Small operations that a local peer may do for another one; null: none.
  std::unique_ptr<ActiveMessages> active_messages;
  /// Messages with other members; null: all memory is reached otherwise.
  std::unique_ptr<message::Part> part;

  /// What this process has open at the window (section 12.5).
  /// `awaited`: started, but the target's post has not been seen.
  enum class Held : std::uint8_t { nothing, awaited, pending, shared, exclusive, unchecked, started };
  struct Epochs {
    bool fence = false;  ///< operations may follow the last MPI_Win_fence
    bool used = false;   ///< there have been some since
    bool lock_all = false;
    bool lock_all_checked = false;  ///< it holds the node's lock
    bool node_pending = false;      ///< a thread of this process takes the node's lock
    std::uint32_t locks = 0;        ///< held by MPI_Win_lock
    std::uint32_t exclusive = 0;    ///< of these, exclusive ones that hold the node's lock together
    std::vector<Held> held;         ///< by target
    std::uint32_t calls = 0;        ///< that poll now and then
    std::uint64_t takings = 0;      ///< of locks, for itself and for others
    /// MPI_Win_start and post (post_start.hpp).
    bool started = false, posted = false;
    std::vector<std::uint32_t> targets, origins;
    std::vector<std::uint32_t> lost;  ///< of `origins`, those that have died
    std::uint64_t completed = 0;      ///< what the own counter had when the exposure epoch began
    std::uint64_t next_look_ns = 0;   ///< for them, in MPI_Win_test
  };
  Epochs epochs;

 private:
  Comm* comm_;
  int flavor_;
  WinParts parts_;
  Control control_;
};

/// An error of the private communicator is the window's: notes it again, to be raised there.
[[nodiscard]] int on_window(int error_class);

}  // namespace starling::mpi
