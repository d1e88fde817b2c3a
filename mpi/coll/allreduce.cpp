// SPDX-License-Identifier: BSD-3-Clause
/// @file  MPI_Allreduce. MPI 5.0 section 6.9.6. All processes must get the same bits: every element is either
/// computed once and passed on, or by the same expression over the same operands everywhere.

#include "mpi/coll/builders.hpp"
#include "mpi/coll/fold.hpp"
#include "mpi/coll/ring.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {
namespace {

/// Ranks beyond a power of two: among the first 2 * extra ranks each even one lends its operand to its right
/// neighbour and gets the result back. Neighbours, so that rank order survives.
struct Folded {
  explicit Folded(const Team& team)
      : power(power_of_two_below(team.size)),
        extra(team.size - power),
        lends(team.rank < 2 * extra && team.rank % 2 == 0),
        borrows(team.rank < 2 * extra && team.rank % 2 == 1),
        rank(team.rank < 2 * extra ? team.rank / 2 : team.rank - extra) {}
  [[nodiscard]] int real(int folded) const noexcept {
    return folded < extra ? 2 * folded + 1 : folded + extra;
  }
  int power, extra;
  bool lends, borrows;
  int rank;
};

void lend(Schedule& schedule, const Team& team, const Buffer& own, const Buffer& result) {
  schedule.send(team.rank + 1, own);
  schedule.next_round();
  schedule.receive(team.rank + 1, result);
  schedule.next_round();
}

}  // namespace

void allreduce_recursive_doubling(Schedule& schedule, const Team& team, const Reduce& asked) {
  const Folded folded(team);
  const Buffer result = region(asked.receive, asked.count, asked.type);
  const void* const own = asked.in_place ? asked.receive : asked.send;
  schedule.set_reduction(asked.operation, asked.type);
  if (folded.lends) return lend(schedule, team, region(own, asked.count, asked.type), result);

  Fold fold(schedule, asked.type, asked.count, own, asked.receive);
  if (folded.borrows) {
    schedule.receive(team.rank - 1, fold.landing(true));
    schedule.next_round();
    fold.prepend();
    schedule.next_round();
  }
  for (int mask = 1; mask < folded.power; mask *= 2) {
    const int partner = folded.rank ^ mask;
    const bool lower = partner < folded.rank;
    const Buffer out = fold.buffer();
    schedule.receive(folded.real(partner), fold.landing(lower));
    schedule.send(folded.real(partner), out);
    schedule.next_round();
    lower ? fold.prepend() : fold.append();
    schedule.next_round();
  }
  fold.finish();
  if (folded.borrows) schedule.send(team.rank - 1, result);
  schedule.next_round();
}

void allreduce_rabenseifner(Schedule& schedule, const Team& team, const Reduce& asked) {
  const Folded folded(team);
  const Type& type = asked.type;
  const Buffer result = region(asked.receive, asked.count, type);
  const void* value = asked.in_place ? asked.receive : asked.send;
  schedule.set_reduction(asked.operation, type);
  if (folded.lends) return lend(schedule, team, region(value, asked.count, type), result);

  void* staging = nullptr;
  if (folded.borrows) {
    staging = schedule.scratch(type, asked.count);
    schedule.receive(team.rank - 1, region(staging, asked.count, type));
    schedule.copy(region(value, asked.count, type), result);
    schedule.next_round();
    schedule.reduce(staging, asked.receive, asked.count);
    schedule.next_round();
    value = asked.receive;
  }
  if (folded.power == 1) {
    schedule.copy(region(value, asked.count, type), result);
    schedule.next_round();
  }
  const Split split{asked.count, folded.power};
  const auto parts = [&](const void* base, int first, int n) {
    return region(element(base, split.begin(first), type), split.begin(first + n) - split.begin(first), type);
  };
  int first = 0;  // of the parts that are still mine
  for (int mask = folded.power / 2; mask > 0; mask /= 2) {
    const int partner = folded.rank ^ mask;
    const int kept = (folded.rank & mask) != 0 ? first + mask : first;
    const int given = kept == first ? first + mask : first;
    const std::uint64_t count = split.begin(kept + mask) - split.begin(kept);
    void* const place = element(asked.receive, split.begin(kept), type);
    const bool direct = value != asked.receive;  // nothing of ours in the receive buffer yet
    if (!direct && staging == nullptr) staging = schedule.scratch(type, count);
    schedule.receive(folded.real(partner), region(direct ? place : staging, count, type));
    schedule.send(folded.real(partner), parts(value, given, mask));
    schedule.next_round();
    schedule.reduce(direct ? element(value, split.begin(kept), type) : staging, place, count);
    schedule.next_round();
    value = asked.receive;
    first = kept;
  }
  for (int mask = 1; mask < folded.power; mask *= 2) {
    const int partner = folded.rank ^ mask;
    const int mine = folded.rank & ~(mask - 1), theirs = partner & ~(mask - 1);
    schedule.receive(folded.real(partner), parts(asked.receive, theirs, mask));
    schedule.send(folded.real(partner), parts(asked.receive, mine, mask));
    schedule.next_round();
  }
  if (folded.borrows) schedule.send(team.rank - 1, result);
  schedule.next_round();
}

void allreduce_ring(Schedule& schedule, const Team& team, const Reduce& asked) {
  const int n = team.size, me = team.rank;
  schedule.set_reduction(asked.operation, asked.type);
  ring_reduce_scatter(schedule, team, asked, asked.in_place, asked.receive);
  const Split split{asked.count, n};
  const auto part = [&](int index) {
    return region(element(asked.receive, split.begin(index), asked.type), split.size(index), asked.type);
  };
  for (int step = 0; step < n - 1; ++step) {
    schedule.receive(around(me, -1, n), part(around(me, -step, n)));
    schedule.send(around(me, 1, n), part(around(around(me, 1, n), -step, n)));
    schedule.next_round();
  }
}

}  // namespace starling::mpi::coll
