// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The startup plan: what making a communicator will do, as a value made by a pure function.
/// Layer: mpi.
///
/// Inputs are facts that every member shares (declarations of the active transports, abilities of the process
/// manager, parameters, the group), so every member computes the same plan. See docs/design/startup.md.
/// Threads: pure.

#include <cstdint>
#include <string>
#include <vector>

#include "frameworks/bootstrap/group_mode.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "mpi/runtime/params.hpp"

namespace starling::mpi {

struct PlanInput {
  struct Transport {
    std::string name;
    btl::Needs needs;
  };
  std::vector<Transport> transports;
  std::uint32_t networks = 0;  ///< of the transports: those that may reach one peer side by side
  pmi::Capabilities pmi;
  bool roots_tree = false;  ///< the bootstrap exchanges addresses over a tree of node roots
  bootstrap::GroupMode group_mode = bootstrap::GroupMode::automatic;
  std::uint32_t members = 1;
  bool everybody = true;   ///< the group is the whole world
  bool far_world = false;  ///< a network may carry messages between some processes of the world
  std::int64_t add_procs_cutoff = 0;
  bool async_modex = false;
  BarrierChoice init_barrier = BarrierChoice::automatic;
  BarrierChoice finalize_barrier = BarrierChoice::automatic;
};

struct StartupPlan {
  /// How addresses get around: not at all, by one data fence, over a tree of node roots, or one by one at
  /// first contact.
  enum class Exchange { none, fence, tree, direct };
  Exchange exchange = Exchange::none;
  std::string exchange_reason;
  bool meets_world = false;  ///< all processes of the job meet once, at the first creation of each
  /// Making the communicator ends on each member when the last one has begun it.
  bool waits_for_all = false;
  std::string waits_reason;
  bool init_barrier = false;
  std::string init_barrier_reason;
  bool finalize_barrier = false;
  std::string finalize_barrier_reason;
  bool peers_now = false;
  std::string peers_reason;

  /// One line per decision, with its reason in parentheses.
  [[nodiscard]] std::vector<std::string> lines() const;
};

[[nodiscard]] StartupPlan make_plan(const PlanInput& input);

}  // namespace starling::mpi
