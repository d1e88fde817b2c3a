// SPDX-License-Identifier: BSD-3-Clause
// MPI_Scan and MPI_Exscan on a board: each member combines those below it where they wrote. Layer: mpi.
// MPI 5.0 section 6.11. docs/design/node-collectives.md

#include <algorithm>

#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/families.hpp"
#include "mpi/coll/node/run.hpp"

namespace starling::mpi::coll::node {
namespace {

enum class Own : bool { left_out, counts };

/// The second round of many members: each family's last member shows what its family amounts to, and the
/// later families put that to the left. `own` is this member's operand, `empty` whether there is a result.
bool add_families(Crew& crew, const Run& run, Own counts, const std::byte* own, bool empty) {
  const Families families(crew);
  crew.begin();
  if (crew.me() + 1 == families.end() && families.end() != crew.size()) {
    std::byte* const cell = crew.cell();
    if (cell == nullptr) return false;
    run.set(cell, counts == Own::counts ? run.result() : own);
    if (counts == Own::left_out && !empty && crew.equal()) run.prepend(run.result(), cell);
    crew.post();
  }
  const bool complete = families.each_last_before([&](std::uint32_t last) {
    const std::byte* const family = crew.read(last);
    if (family != nullptr && crew.equal())
      empty ? run.set(run.result(), family) : run.prepend(family, run.result());
    empty = false;
    return family != nullptr;
  });
  if (!complete) return false;
  crew.finish();
  return true;
}

bool prefix(Crew& crew, const Run& run, Own counts) {
  const Families families(crew);
  const std::uint32_t begin = families.flat() ? 0 : families.head();
  crew.begin();
  // In place the own operand is overwritten below; it stands in the cell, for this member too.
  const std::byte* const own = give(crew, run.own(), run.bytes());
  if (own == nullptr) return false;
  crew.post();
  if (counts == Own::counts) run.set(run.result(), run.own());
  const bool empty = counts == Own::left_out;
  if (!prepend_members(crew, run, begin, crew.me(), run.result(), empty)) return false;
  crew.finish();
  return families.flat() || add_families(crew, run, counts, own, empty && crew.me() == begin);
}

bool prefixes(Crew& crew, const Reduce& asked, Own counts) {
  const std::uint64_t most = elements_of_piece(crew, asked.type);
  crew.agree(terms_of(asked));
  for (std::uint64_t first = 0; first < asked.count; first += most) {
    if (!prefix(crew, Run(asked, first, std::min(most, asked.count - first)), counts)) return false;
  }
  return true;
}

}  // namespace

bool scan(Crew& crew, const Reduce& asked) { return prefixes(crew, asked, Own::counts); }
bool exscan(Crew& crew, const Reduce& asked) { return prefixes(crew, asked, Own::left_out); }

}  // namespace starling::mpi::coll::node
