// SPDX-License-Identifier: BSD-3-Clause
/// @file  Reduction around a ring. Out of place nothing is copied: a partial result arrives where the final
/// one belongs and the send buffer's part is added to it.

#include "mpi/coll/ring.hpp"

#include "mpi/coll/split.hpp"

namespace starling::mpi::coll {

void ring_reduce_scatter(Schedule& schedule, const Team& team, const Reduce& asked, bool in_place,
                         void* result) {
  const int n = team.size, me = team.rank;
  const Type& type = asked.type;
  const Split split{asked.count, n};
  const int right = around(me, 1, n), left = around(me, -1, n);
  void* const staging = in_place && n > 1 ? schedule.scratch(type, split.size(0)) : nullptr;
  if (n == 1 && !in_place)
    schedule.copy(region(asked.send, asked.count, type), region(result, asked.count, type));
  for (int step = 0; step < n - 1; ++step) {
    const int out = around(me, -step, n), in = around(me, -step - 1, n);
    const void* const from = step == 0 && !in_place ? asked.send : result;
    void* const place = element(result, split.begin(in), type);
    void* const landing = in_place ? staging : place;
    schedule.receive(left, region(landing, split.size(in), type));
    schedule.send(right, region(element(from, split.begin(out), type), split.size(out), type));
    schedule.next_round();
    if (in_place) {
      schedule.reduce(staging, place, split.size(in));
    } else {
      schedule.reduce(element(asked.send, split.begin(in), type), place, split.size(in));
    }
    schedule.next_round();
  }
  schedule.next_round();
}

}  // namespace starling::mpi::coll
