// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The process manager as seen by one process. Layer: framework interface.
///
/// Threads:   one call at a time, by different threads in turn (mpi/runtime/process_manager.hpp). Calls that
///            wait are made without the runtime's lock, but for get(): first contact needs it in the middle
///            of a send.
/// Ownership: a Component owns its connection; it stays connected until the process exits or takes leave, so
///            that worlds and sessions can come and go any number of times.
/// Ordering:  what was put before a fence is visible to everybody's get after it.
/// Errors:    set-up Results; a launcher that went away is Errc::peer_lost.
/// Units:     values are bytes of any content up to 64 KiB; encoding and splitting is the component's
///            business.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/node_map.hpp"
#include "core/plugin/descriptor.hpp"
#include "core/result.hpp"
#include "params/registry.hpp"

namespace starling::pmi {

inline constexpr std::size_t kMaxValueBytes = 64 * 1024;

/// What a component speaks with its process manager: told by its descriptor, so that mpiexec and
/// starling-info know it without loading the plugin.
enum class Speaks : std::uint32_t { other = 0, nobody = 1, pmi1 = 2, pmi2 = 3, pmix = 4 };
[[nodiscard]] constexpr Speaks speaks(const plugin::Descriptor& component) noexcept {
  return static_cast<Speaks>(component.fact);
}

/// What this process manager can do; the startup plan is made from it.
struct Capabilities {
  bool get_without_fence = false;  ///< get() may ask for what was put and not yet fenced (direct modex)
  bool group_fence = false;        ///< fence(ranks, tag) works for a subset
  bool tagged_barrier = false;     ///< fences of different groups may overlap in time
  bool name_service = false;       ///< publish, lookup, unpublish
  bool tells_reason = false;       ///< the first abort's message is shown to the user
  std::string server;              ///< its name for people: "pmi1 1.2 (mpiexec of Starling 0.1)"
};

/// Who this process is. Nothing here has the size of the job: the node map stays compressed.
struct Identity {
  std::string job;  ///< name of the launched world, unique on its nodes; no '/' or space in it
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t universe_size = 0;  ///< 0: not said
  std::optional<std::uint32_t> appnum;
  NodeMap nodes;  ///< unknown() when the process manager gave none
};

/// Answer to get(): "has none" differs from "not published yet".
enum class Found : std::uint8_t { value, none, not_yet };
struct Lookup {
  Found found = Found::none;
  std::vector<std::byte> value;
};

/// A fence that this process has entered and perhaps not left.
struct Fence {
  static constexpr std::uint32_t kLeft = 0xffffffffu;
  std::uint32_t number = kLeft;  ///< the component's own; kLeft: it is over already
};

/// Processes of this job that the launcher has given a name.
struct ProcessSet {
  std::string name;
  std::vector<std::uint32_t> ranks;  ///< in the launcher's order
};

class Component {
 public:
  virtual ~Component() = default;

  [[nodiscard]] virtual const Identity& identity() const noexcept = 0;
  [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;

  /// Publishes a value of this process. A key is put once; use a fresh key for a new value.
  [[nodiscard]] virtual Result<void> put(std::string_view key, std::span<const std::byte> value) = 0;
  /// Reads what `rank` put. not_yet only if get_without_fence.
  [[nodiscard]] virtual Result<Lookup> get(std::uint32_t rank, std::string_view key) = 0;

  /// Fence over the whole world; after it everything put before is visible.
  [[nodiscard]] virtual Result<void> fence(Deadline deadline) = 0;
  /// Fence over `ranks` (sorted, this process included). `tag` separates concurrent fences of the same ranks.
  /// Errc::unsupported without Capabilities::group_fence.
  [[nodiscard]] virtual Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                           Deadline deadline) = 0;

  /// Enters a fence over `ranks` (sorted, this process included; empty: everybody) without waiting for the
  /// others, so that the caller can progress meanwhile. A component that cannot do it waits here.
  [[nodiscard]] virtual Result<Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                                                  Deadline deadline) {
    Result<void> done = ranks.empty() ? fence(deadline) : fence(ranks, tag, deadline);
    if (!done) return fail(std::move(done).error());
    return Fence{};
  }
  /// Whether all members of the fence have entered it. Do not ask again after a yes. Never waits. wait_fd()
  /// becomes readable when the answer may have changed.
  [[nodiscard]] virtual Result<bool> fence_left(Fence) { return true; }
  /// As fence_enter(), over all processes at the end of MPI. The dead are not waited for, where the process
  /// manager keeps a job that has lost a process.
  [[nodiscard]] virtual Result<Fence> last_fence_enter(Deadline deadline) {
    return fence_enter({}, {}, deadline);
  }
  /// Gives up a fence that was entered and not left.
  virtual void fence_abandon(Fence) noexcept {}

  /// Name service; Errc::unsupported without Capabilities::name_service. lookup: not found is
  /// Errc::not_found.
  [[nodiscard]] virtual Result<void> publish(std::string_view name, std::string_view port) = 0;
  [[nodiscard]] virtual Result<std::string> lookup(std::string_view name) = 0;
  [[nodiscard]] virtual Result<void> unpublish(std::string_view name) = 0;

  /// The sets that the launcher has defined. May ask the launcher, and waits for seconds at most.
  [[nodiscard]] virtual std::vector<ProcessSet> process_sets() { return {}; }

  /// Tells whether MPI is in use in this process: true from creation, false after the last session or world
  /// was finalized, true again when another begins. A process that ends while MPI is in use is a failure of
  /// the job, also with exit code 0; one that ends while it is not may do so at any time. Never blocks and
  /// needs no answer.
  virtual void set_active(bool active) noexcept = 0;

  /// Nothing more will be asked of the process manager, though MPI may be used again. Some launchers count a
  /// process as failed if it ends without having taken leave; after this call it may end in any way (_exit,
  /// exec). With these launchers put, get and fences fail from now on, abort() is not heard, and wait_fd() is
  /// -1. Called while MPI is not in use. May wait for an answer.
  virtual void take_leave() noexcept {}
  /// The process ends now, while MPI is not in use. Nothing of this component is called any more.
  virtual void process_ends() noexcept { take_leave(); }

  /// Asks the process manager to end the whole job. May return, if the process manager does not end this
  /// process.
  virtual void abort(int exit_code, std::string_view message) noexcept = 0;

  /// Descriptor that becomes readable when the process manager has something to say (or is gone: then check()
  /// fails); -1 if there is none.
  [[nodiscard]] virtual int wait_fd() const noexcept = 0;
  /// Called when wait_fd() is readable, and now and then: Errc::peer_lost once the process manager is gone.
  [[nodiscard]] virtual Result<void> check() = 0;

  /// Operations and bytes so far, for the startup report.
  struct Counters {
    std::uint64_t puts = 0, gets = 0, fences = 0, other = 0;
    std::uint64_t early_gets = 0;  ///< gets that were answered by not_yet; their number depends on timing
    std::uint64_t bytes_sent = 0, bytes_received = 0;
  };
  [[nodiscard]] virtual Counters counters() const noexcept = 0;
};

struct Args {
  params::Registry& params;
  bool to_abort = false;  ///< nothing but an abort will be told: this process takes no part in the job
};

struct Framework {
  using Component = pmi::Component;
  using Args = pmi::Args;
  static constexpr FixedString<24> kName = "pmi";
  static constexpr std::uint32_t kInterface = 4;
};

}  // namespace starling::pmi
