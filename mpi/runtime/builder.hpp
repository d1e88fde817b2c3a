// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Making communicators from groups: what has to be done before, and agreeing on an id. Layer: mpi.
/// docs/design/startup.md
///
/// Threads:   under the runtime's lock, which waiting gives away: several threads may build at once.
/// Ownership: owns the bootstrap component; everything else is borrowed.
/// Errors:    a process that cannot be reached, or that does not come before bootstrap_timeout has passed.

#include <cstdint>
#include <optional>
#include <string>

#include "core/ids.hpp"
#include "core/node_map.hpp"
#include "core/proc_list.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/settings.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "frameworks/select.hpp"
#include "mpi/runtime/control_channel.hpp"
#include "mpi/runtime/environment.hpp"
#include "mpi/runtime/phases.hpp"
#include "mpi/runtime/place.hpp"
#include "mpi/runtime/plan.hpp"
#include "mpi/runtime/seating.hpp"
#include "mpi/runtime/segment_store.hpp"
#include "mpi/runtime/transports.hpp"

namespace starling::mpi {

class Builder {
 public:
  Builder(Environment& environment, pmi::Component& pmi, const Place& place, Transports& transports,
          Seating& seating, Phases& phases) noexcept
      : environment_(environment),
        pmi_(pmi),
        place_(place),
        transports_(transports),
        seating_(seating),
        phases_(phases) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Makes the bootstrap, which then gets the control channel's messages.
  [[nodiscard]] Result<void> open(ControlChannel& control_channel, Polling& polling);
  void close() noexcept { bootstrap_.reset(); }
  [[nodiscard]] bootstrap::Component& bootstrap() noexcept { return *bootstrap_; }

  /// Makes what is needed to reach these processes: the network transports, once something else is not
  /// enough. To be called before anything is sent to a new set of processes. Every member comes to the same
  /// result.
  [[nodiscard]] Result<void> reach(const ProcList& members);
  /// What making a communicator of these members does; a function of facts that all members share.
  [[nodiscard]] StartupPlan plan_for(const ProcList& members) const;
  /// The plan of a job that is not this one, under a process manager with these abilities. Makes the network
  /// transports if that job loads them. An Error: no transport would reach its processes.
  struct JobShape {
    std::uint32_t nodes = 1;
    std::uint32_t per_node = 1;
    [[nodiscard]] std::uint32_t size() const noexcept { return nodes * per_node; }
  };
  [[nodiscard]] Result<StartupPlan> plan_for_job(JobShape job, const pmi::Capabilities& pmi);
  /// Makes a context id together with the other members, after what the plan wants done before. Collective.
  [[nodiscard]] Result<ContextId> agree(const ProcListPtr& members, const std::string& tag);
  /// All addresses of the world have been brought: nothing more to ask the process manager.
  [[nodiscard]] bool world_is_known() const noexcept { return world_is_known_; }

 private:
  struct Members {
    std::uint32_t count = 1;
    bool everybody = false;  ///< they are the whole world
    bool over_network = false;
  };
  [[nodiscard]] StartupPlan plan_under(const pmi::Capabilities& pmi, const Members& members) const;
  [[nodiscard]] Result<void> make_network();

  Environment& environment_;
  pmi::Component& pmi_;
  const Place& place_;
  Transports& transports_;
  Seating& seating_;
  Phases& phases_;
  bool world_is_known_ = false;
  // The bootstrap reads these.
  std::optional<SegmentStore> store_;
  std::optional<NodeMap> lone_nodes_;  // where networks alone reach the others: each process by itself
  bootstrap::Settings settings_;
  plugin::Index::Handle<bootstrap::Framework> bootstrap_;
};

}  // namespace starling::mpi
