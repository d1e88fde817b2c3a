// SPDX-License-Identifier: BSD-3-Clause
// MPI_Barrier on a board. Layer: mpi. docs/design/node-collectives.md

#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/families.hpp"

namespace starling::mpi::coll::node {

bool arrive(Crew& crew) {
  const Families families(crew);
  crew.agree(Terms{});
  crew.begin();
  if (families.heads()) {
    for (std::uint32_t member = crew.me() + 1; member < families.end(); ++member) {
      if (!crew.meet(member)) return false;
    }
  }
  crew.post(families.reader());
  if (crew.me() == 0 && !families.each_other_head([&](std::uint32_t head) { return crew.meet(head); }))
    return false;
  crew.finish();
  return true;
}

bool leave(Crew& crew) {
  crew.begin();
  if (crew.me() == 0) {
    crew.post();
  } else if (!crew.meet(0)) {
    return false;
  }
  crew.all_have_begun();
  crew.finish();
  return true;
}

bool barrier(Crew& crew) {
  if (!Families(crew).flat()) return arrive(crew) && leave(crew);
  crew.agree(Terms{});
  crew.begin();
  crew.post();
  for (std::uint32_t member = 0; member < crew.size(); ++member) {
    if (member != crew.me() && !crew.meet(member)) return false;
  }
  crew.all_have_begun();
  crew.finish();
  return true;
}

}  // namespace starling::mpi::coll::node
