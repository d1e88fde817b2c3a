// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How the members of a group agree on a new communicator and learn each other's addresses.
/// Layer: framework interface.
///
/// Threads:   create() by several threads at once, for different keys; everything else by one at a time.
/// Ownership: the control channel, pmi and params outlive the component.
/// Errors:    a member that does not arrive before the deadline: Errc::timed_out, naming the missing ranks
///            where known.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/proc_list.hpp"
#include "core/result.hpp"
#include "core/worlds.hpp"
#include "frameworks/bootstrap/block.hpp"
#include "frameworks/btl/address.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "params/registry.hpp"

namespace starling::bootstrap {

class Settings;  // settings.hpp

/// Carries control messages and waits; implemented by mpi/runtime, a port of the peers.
class ControlChannel {
 public:
  [[nodiscard]] virtual Result<void> send(ProcId to, std::span<const std::byte> message) = 0;
  /// Sends a block of any length. It arrives as a whole (Component::on_block), in order with all else that is
  /// sent to that process.
  [[nodiscard]] virtual Result<void> send_block(ProcId to, const Block& block) = 0;
  /// Progresses for `ns`. Fails as wait() does, but not because the time has passed.
  [[nodiscard]] virtual Result<void> pause(std::uint64_t ns, const std::function<std::string()>& what) = 0;
  /// Progresses and sleeps until `ready()` is true or the deadline passes (Errc::timed_out; its detail is a
  /// hint at the cause, or empty) or the job is being ended. The runtime's lock is released while waiting, so
  /// other threads can create too.
  /// `what` says what is waited for, if somebody asks meanwhile.
  [[nodiscard]] virtual Result<void> wait(const std::function<bool()>& ready, Deadline deadline,
                                          const std::function<std::string()>& what) = 0;
  /// The time of this process, by which it decides when a look is due; 0: there is no clock (a simulation).
  [[nodiscard]] virtual std::uint64_t clock_ns() const noexcept = 0;
  /// A process among `members` that is known to have died; nobody waits for it any more. Cheap: called in
  /// each poll.
  [[nodiscard]] virtual std::optional<ProcId> dead_among(const ProcList& members) noexcept = 0;
  /// A fence of the process manager over `ranks` (sorted, this process included; empty: everybody).
  /// Progresses meanwhile: a member may be waiting for our data before it comes. `needless`, if given, ends
  /// the wait early, when what the fence is for has come otherwise. This process has entered a fence of the
  /// world nevertheless: its next fence of the world is the rest of this one.
  [[nodiscard]] virtual Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                           Deadline deadline, const std::function<bool()>& needless) = 0;

 protected:
  ~ControlChannel() = default;
};

/// The tag separates creations over the same members by several threads.
struct Creation {
  ProcListPtr members;
  std::string tag;
  // From the startup plan, so the same on all members.
  bool exchange = false;  ///< members need each other's published addresses
  bool lookup = false;    ///< they do, and ask for each at first contact: there is no exchange
  bool ready = false;     ///< no message may leave before all members are ready to receive
  bool world = false;     ///< all processes of the job meet first, once: some groups need it
};

/// The address of this process for one transport, to be published if the process publishes addresses.
struct LocalAddress {
  std::string transport;
  std::vector<std::byte> bytes;
};

class Component : public btl::AddressBook {
 public:
  /// Takes the addresses of this process, once, before the first create() with `exchange` or `lookup`. An
  /// empty list says that it has none. They are put at the process manager only when somebody has to find
  /// them there.
  [[nodiscard]] virtual Result<void> publish(const std::vector<LocalAddress>& addresses) = 0;
  /// Puts the addresses at the process manager, so that any process may ask for them without a creation.
  [[nodiscard]] virtual Result<void> expose() = 0;
  /// Collective over the members: returns the same new context id on each. Uses no PMI where shared facts
  /// allow.
  [[nodiscard]] virtual Result<ContextId> create(const Creation& creation, Deadline deadline) = 0;
  /// A fresh context id with this process as leader (for communicators made from a communicator).
  [[nodiscard]] virtual Result<ContextId> next_context_id() = 0;
  /// Whether an exchange goes from node to node over a tree of the nodes' roots. The startup plan depends on
  /// it.
  [[nodiscard]] virtual bool exchanges_over_roots() const noexcept = 0;
  /// A control message of a creation arrived.
  virtual void on_control(ProcId from, std::span<const std::byte> message) noexcept = 0;
  /// A block of a creation arrived. Its content is not checked yet.
  virtual void on_block(ProcId from, Block block) noexcept = 0;
};

/// Memory that the processes of a node share, as a bootstrap uses it. What is kept there stays.
class NodeStore {
 public:
  /// Keeps the bytes and returns the place by which every process of the node finds them; never 0.
  /// Errc::no_space when the memory is full.
  [[nodiscard]] virtual Result<std::uint64_t> keep(const SharedBytes& bytes) = 0;
  [[nodiscard]] virtual std::span<const std::byte> at(std::uint64_t place, std::size_t bytes) const = 0;

 protected:
  ~NodeStore() = default;
};

struct Args {
  params::Registry& params;
  pmi::Component& pmi;
  ControlChannel& control_channel;
  ProcId self;
  std::uint32_t world_size = 1;
  const NodeMap* nodes = nullptr;  ///< who is on which node; null: all on one. Outlives the component
  NodeStore* store = nullptr;      ///< null: there is none. Outlives the component
  const Settings* settings =
      nullptr;  ///< what members must have alike; null: nothing. Outlives the component
  /// What processes of other worlds call this one; null: there is one world. Outlives the component.
  const Worlds* worlds = nullptr;
};

struct Framework {
  using Component = bootstrap::Component;
  using Args = bootstrap::Args;
  static constexpr FixedString<24> kName = "bootstrap";
  static constexpr std::uint32_t kInterface = 5;
};

}  // namespace starling::bootstrap
