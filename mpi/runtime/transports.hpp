// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which transports run, and whom they reach. Layer: mpi. docs/design/startup.md
///
/// Those of the own node are made first; networks wait until somebody is to be reached who is not near.
///
/// Threads:   under the runtime's lock.
/// Ownership: owns the transports; whom they serve (polling) is borrowed. The front leaves after close().
/// Errors:    a transport that the user has named and that cannot be used; none at all.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "core/proc_list.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/select.hpp"
#include "mpi/runtime/environment.hpp"
#include "mpi/runtime/place.hpp"
#include "mpi/runtime/polling.hpp"

namespace starling::mpi {

class Transports {
 public:
  using Addresses = std::vector<bootstrap::LocalAddress>;

  /// `job`: the same number in all processes of the job.
  Transports(Environment& environment, const Place& place, Polling& polling, std::size_t job) noexcept
      : environment_(environment), place_(place), polling_(polling), job_(job) {}
  Transports(const Transports&) = delete;
  Transports& operator=(const Transports&) = delete;

  /// Makes those of the own process and of the own node, the latter once it is known.
  [[nodiscard]] Result<void> create(bool node_is_known);
  /// Those that had to wait until the node was known. No network is there yet: nobody was reached.
  [[nodiscard]] Result<void> create_for_node();
  /// Makes the networks; once. What is to be published of this process, if anything is.
  [[nodiscard]] Result<std::optional<Addresses>> make_network();
  void close() noexcept { transports_.clear(); }

  /// Best first: near() of them reach processes of the own node, the others are networks.
  [[nodiscard]] const std::vector<btl::Component*>& all() const noexcept { return transport_list_; }
  [[nodiscard]] std::size_t near() const noexcept { return near_count_; }
  /// Those that could not be made, with their reasons.
  [[nodiscard]] const std::vector<std::string>& refused() const noexcept { return transports_refused_; }
  /// There are networks to try, or they have been made.
  [[nodiscard]] bool has_networks() const noexcept { return !network_candidates_.empty(); }
  [[nodiscard]] bool network_made() const noexcept { return network_made_; }

  /// Reached by a near transport; if by none, it is on another node, as a rule.
  [[nodiscard]] bool is_near(ProcId proc) const;
  /// All processes of the world are.
  [[nodiscard]] bool world_is_near() const noexcept { return world_is_near_; }
  /// More than the own process is, by the selection; so the same on all members.
  [[nodiscard]] bool near_reaches_node() const noexcept { return near_reaches_node_; }
  /// Whether some member is not near.
  [[nodiscard]] bool needs_network(const ProcList& members) const;
  /// Without any network to try, who is not near will never be reached: nobody has to wait to know that.
  [[nodiscard]] Result<void> all_reachable(const ProcList& members) const;

  /// The longest message of a creation to another node that every network takes.
  [[nodiscard]] std::size_t network_message_bytes() const;
  /// Connections that networks have made for sending.
  [[nodiscard]] std::uint64_t network_endpoints() const;

 private:
  [[nodiscard]] Result<void> create_transport(const plugin::Candidate& candidate);
  void use_transports(std::size_t first);
  void note_near_transports();

  Environment& environment_;
  const Place& place_;
  Polling& polling_;
  std::size_t job_;
  std::vector<plugin::Index::Handle<btl::Framework>> transports_;
  std::vector<btl::Component*> transport_list_;
  std::vector<std::string> transports_refused_;
  std::size_t near_count_ = 0;
  bool world_is_near_ = false;
  bool near_reaches_node_ = false;
  bool network_made_ = false;
  std::vector<const plugin::Candidate*> node_candidates_;     // that wait for the place on the node
  std::vector<const plugin::Candidate*> network_candidates_;  // opened by make_network()
};

}  // namespace starling::mpi
