// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A machine of many nodes in virtual time, on which schedules of collectives run. Layer: bench.
/// docs/design/collectives.md
///
/// LogGP twice, between nodes and within one: a message occupies its sender for o, the node's adapter for the
/// longer of g and bytes x G, arrives L later, and occupies its receiver for o. All processes of a node share
/// the adapter, in both directions. Copies and reductions cost time for each byte. Nothing is moved.
///
/// Alexandrov, Ionescu, Schauser, Scheiman 1995.
/// Units: microseconds; bytes.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/schedule.hpp"

namespace starling::nodes {

struct Link {
  double latency = 0, overhead = 0, gap = 0, per_byte = 0;
};
struct Costs {
  Link between{1.2, 0.4, 0.05, 1.0 / 12'500};  ///< 100 Gbit/s
  Link within{0.3, 0.15, 0, 1.0 / 8'000};
  double copy_per_byte = 1.0 / 8'000, reduce_per_byte = 1.0 / 4'000;
};

class Machine {
 public:
  /// Of `hierarchy`'s ranks; `schedules`: one for each. Borrows both.
  Machine(const Costs& costs, const mpi::coll::Hierarchy& hierarchy,
          const std::vector<std::unique_ptr<mpi::coll::Schedule>>& schedules);
  /// When the last process has done all; negative if some wait for ever.
  [[nodiscard]] double run();
  [[nodiscard]] std::uint64_t messages_between() const noexcept { return messages_; }
  [[nodiscard]] std::uint64_t bytes_between() const noexcept { return bytes_; }

 private:
  struct Process {
    double now = 0;
    std::uint32_t round = 0, step = 0;  ///< the receive that is waited for
    bool posted = false;                ///< the sends of the round
  };
  [[nodiscard]] bool advance(int rank);
  void post(int rank);
  void send(int rank, const mpi::coll::Schedule::Step& step);
  [[nodiscard]] bool take(int rank, const mpi::coll::Schedule::Step& step);
  void work(int rank);
  [[nodiscard]] const mpi::coll::Schedule& schedule(int rank) const noexcept {
    return *schedules_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] Process& process(int rank) noexcept { return processes_[static_cast<std::size_t>(rank)]; }

  struct Mail {
    std::vector<double> arrivals;  ///< of messages that have not been taken, in order
    bool awaited = false;
  };
  [[nodiscard]] static std::uint64_t key(int from, int to) noexcept {
    return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  }

  const Costs& costs_;
  const mpi::coll::Hierarchy& hierarchy_;
  const std::vector<std::unique_ptr<mpi::coll::Schedule>>& schedules_;
  std::vector<Process> processes_;
  std::vector<double> out_free_, in_free_;  // adapters of nodes
  std::unordered_map<std::uint64_t, Mail> mails_;
  std::vector<int> woken_;
  std::uint64_t messages_ = 0, bytes_ = 0;
};

}  // namespace starling::nodes
