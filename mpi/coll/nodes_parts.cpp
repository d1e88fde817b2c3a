// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Allreduce of long vectors over several nodes: several members of each node combine one part
/// each, and exchange it with those of the other nodes that have the same part. So all of a node's
/// processors combine, and feed its network. Layer: mpi. docs/design/collectives.md

#include <vector>

#include "mpi/coll/among.hpp"
#include "mpi/coll/builders.hpp"
#include "mpi/coll/nodes.hpp"
#include "mpi/coll/select.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {
namespace {

/// This process's part, as all of its node's members together have it.
class Part {
 public:
  Part(Schedule& schedule, const NodeParts& parts, const Reduce& asked)
      : schedule_(schedule), parts_(parts), asked_(asked), count_(parts.count(parts.levels.local.rank)) {
    const auto local_peers = static_cast<std::size_t>(parts.levels.local.size);
    operands_.resize(local_peers, nullptr);
    for (std::size_t local_peer = 0; local_peer < local_peers && count_ != 0; ++local_peer)
      operands_[local_peer] =
          static_cast<int>(local_peer) == me() ? at(operand(), me()) : schedule.scratch(asked.type, count_);
  }
  /// Each member sends each other its part.
  void exchange() {
    const Among local_peers(schedule_, parts_.levels.local_peers);
    const int n = parts_.levels.local.size;
    for (int step = 1; step < n; ++step) {
      const int from = around(me(), -step, n), to = around(me(), step, n);
      if (count_ != 0)
        schedule_.receive(from, region(const_cast<void*>(operands_[nth(from)]), count_, asked_.type));
      if (parts_.count(to) != 0) schedule_.send(to, region(at(operand(), to), parts_.count(to), asked_.type));
    }
  }
  /// From the highest down, because an operation puts its result over the right operand.
  void combine() {
    if (count_ == 0) return;
    const int last = parts_.levels.local.size - 1;
    void* const result = at(asked_.receive, me());
    void* sum = const_cast<void*>(operands_[nth(last)]);
    if (last == me()) {
      schedule_.copy(region(sum, count_, asked_.type), region(result, count_, asked_.type));
      sum = result;
    }
    for (int local_peer = last - 1; local_peer >= 0; --local_peer)
      schedule_.reduce(operands_[nth(local_peer)], sum, count_);
    schedule_.copy(region(sum, count_, asked_.type), region(result, count_, asked_.type));
    schedule_.next_round();
  }

 private:
  static std::size_t nth(int i) noexcept { return static_cast<std::size_t>(i); }
  [[nodiscard]] int me() const noexcept { return parts_.levels.local.rank; }
  [[nodiscard]] const void* operand() const noexcept {
    return asked_.in_place ? asked_.receive : asked_.send;
  }
  [[nodiscard]] const void* at(const void* base, int local_peer) const noexcept {
    return element(base, parts_.begin(local_peer), asked_.type);
  }
  [[nodiscard]] void* at(void* base, int local_peer) const noexcept {
    return element(base, parts_.begin(local_peer), asked_.type);
  }

  Schedule& schedule_;
  const NodeParts& parts_;
  const Reduce& asked_;
  const std::uint64_t count_;
  std::vector<const void*> operands_;  // of local peers
};

}  // namespace

void allreduce_parts(Schedule& schedule, const Team& team, const Reduce& asked) {
  const NodeParts parts(*team.hierarchy, team.rank, asked.count);
  schedule.set_reduction(asked.operation, asked.type);
  Part part(schedule, parts, asked);
  part.exchange();
  part.combine();
  if (!parts.lane.empty()) {
    const Among lane(schedule, parts.lane);
    allreduce(schedule, parts.levels.across, {}, parts.of(asked));
  }
  const Among local_peers(schedule, parts.levels.local_peers);
  allgather(schedule, parts.levels.local, {}, parts.gathering(asked));
}

}  // namespace starling::mpi::coll
