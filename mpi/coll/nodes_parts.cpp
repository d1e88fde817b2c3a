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
    const auto mates = static_cast<std::size_t>(parts.levels.local.size);
    operands_.resize(mates, nullptr);
    for (std::size_t mate = 0; mate < mates && count_ != 0; ++mate)
      operands_[mate] =
          static_cast<int>(mate) == me() ? at(operand(), me()) : schedule.scratch(asked.type, count_);
  }
  /// Each member sends each other its part.
  void exchange() {
    const Among mates(schedule_, parts_.levels.mates);
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
    for (int mate = last - 1; mate >= 0; --mate) schedule_.reduce(operands_[nth(mate)], sum, count_);
    schedule_.copy(region(sum, count_, asked_.type), region(result, count_, asked_.type));
    schedule_.next_round();
  }

 private:
  static std::size_t nth(int i) noexcept { return static_cast<std::size_t>(i); }
  [[nodiscard]] int me() const noexcept { return parts_.levels.local.rank; }
  [[nodiscard]] const void* operand() const noexcept {
    return asked_.in_place ? asked_.receive : asked_.send;
  }
  [[nodiscard]] const void* at(const void* base, int mate) const noexcept {
    return element(base, parts_.begin(mate), asked_.type);
  }
  [[nodiscard]] void* at(void* base, int mate) const noexcept {
    return element(base, parts_.begin(mate), asked_.type);
  }

  Schedule& schedule_;
  const NodeParts& parts_;
  const Reduce& asked_;
  const std::uint64_t count_;
  std::vector<const void*> operands_;  // of mates
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
  const Among mates(schedule, parts.levels.mates);
  allgather(schedule, parts.levels.local, {}, parts.gathering(asked));
}

}  // namespace starling::mpi::coll
