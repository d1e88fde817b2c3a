// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce and MPI_Allreduce on a board. Operands are read where their owners wrote them; partial results
// grow from the highest rank downwards (run.hpp). Layer: mpi. MPI 5.0 section 6.9.
// docs/design/node-collectives.md

#include <algorithm>

#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/families.hpp"
#include "mpi/coll/node/pieces.hpp"
#include "mpi/coll/node/run.hpp"
#include "mpi/coll/split.hpp"

namespace starling::mpi::coll::node {
namespace {

/// Everybody reads everybody: one round.
bool allreduce_flat(Crew& crew, const Run& run) {
  crew.begin();
  if (give(crew, run.own(), run.bytes()) == nullptr) return false;
  crew.post();
  if (!prepend_members(crew, run, 0, crew.size(), run.result(), true)) return false;
  crew.all_have_begun();
  crew.finish();
  return true;
}

/// Up through the heads of families to member 0, and down in one step: two rounds.
bool allreduce_families(Crew& crew, const Run& run) {
  const Families families(crew);
  crew.begin();
  if (give(crew, run.own(), run.bytes()) == nullptr) return false;
  if (families.heads()) {
    // In place the own operand is overwritten here; it stands in the cell.
    std::byte* const cell = crew.cell();
    bool empty = true;
    if (crew.me() == 0) {
      const bool complete = families.each_other_head([&](std::uint32_t head) {
        const std::byte* const value = crew.read(head);
        if (value != nullptr && crew.equal())
          empty ? run.set(run.result(), value) : run.prepend(value, run.result());
        empty = false;
        return value != nullptr;
      });
      if (!complete) return false;
    }
    if (!prepend_members(crew, run, crew.me() + 1, families.end(), run.result(), empty)) return false;
    if (empty && families.end() == crew.me() + 1) {
      run.set(run.result(), cell);
    } else if (crew.equal()) {
      run.prepend(cell, run.result());
    }
    if (crew.me() != 0) run.set(cell, run.result());
  }
  crew.post(families.reader());  // member 0 too, for one whose length is such that it reads everybody
  crew.finish();

  crew.begin();
  if (crew.me() == 0) {
    if (give(crew, run.result(), run.bytes()) == nullptr) return false;
    crew.post();
  } else {
    const std::byte* const value = crew.read(0);
    if (value == nullptr) return false;
    run.set(run.result(), value);
  }
  crew.all_have_begun();
  crew.finish(0);
  return true;
}

/// The second round, if others take one, of members that have seen all and disagree. Those who meet in
/// families wait for member 0 only.
bool end_of_parts(Crew& crew) {
  if (Families(crew).flat()) return true;
  crew.begin();
  if (crew.cell() == nullptr) return false;
  crew.post();
  crew.finish();
  return true;
}

/// Each member combines one part of the vectors, and reads the others' results: two rounds, and no part is
/// combined twice.
bool allreduce_parts(Crew& crew, const Reduce& asked, std::uint64_t first, std::uint64_t count) {
  const Run all(asked, first, count);
  const Split split{count, static_cast<int>(crew.size())};
  const auto part_of = [&](std::uint32_t member) {
    const auto index = static_cast<int>(member);
    return Run(asked, first + split.begin(index), split.size(index));
  };
  const auto start_of = [&](std::uint32_t member) {
    return split.begin(static_cast<int>(member)) * asked.type.size;
  };
  crew.begin();
  if (give(crew, all.own(), all.bytes()) == nullptr) return false;
  crew.post();
  const Run mine = part_of(crew.me());
  for (std::uint32_t member = crew.size(); member-- > 0;) {
    const std::byte* const vector = crew.read(member);
    if (vector == nullptr) return false;
    const std::byte* const value = vector + start_of(crew.me());
    if (crew.equal()) [[likely]]
      member + 1 == crew.size() ? mine.set(mine.result(), value) : mine.prepend(value, mine.result());
  }
  crew.all_have_begun();
  crew.finish();
  if (!crew.equal()) [[unlikely]]
    return end_of_parts(crew);

  crew.begin();
  if (give(crew, mine.result(), mine.bytes()) == nullptr) return false;
  crew.post();
  for (std::uint32_t step = 1; step < crew.size(); ++step) {
    const std::uint32_t member = (crew.me() + step) % crew.size();
    const std::byte* const value = crew.read(member);
    if (value == nullptr) return false;
    const Run theirs = part_of(member);
    theirs.set(theirs.result(), value);
  }
  crew.all_have_begun();
  crew.finish();
  return true;
}

/// The root reads everybody, from the last to the first; its own operand may come first if the order is free,
/// else it stands in the root's cell: `own`.
bool collect(Crew& crew, const Run& run, const std::byte* own) {
  const std::uint32_t me = crew.me(), size = crew.size();
  if (own == nullptr) {
    run.set(run.result(), run.own());
    return prepend_members(crew, run, me + 1, size, run.result(), false) &&
           prepend_members(crew, run, 0, me, run.result(), false);
  }
  if (!prepend_members(crew, run, me + 1, size, run.result(), true)) return false;
  if (crew.equal()) me + 1 == size ? run.set(run.result(), own) : run.prepend(own, run.result());
  return prepend_members(crew, run, 0, me, run.result(), false);
}

}  // namespace

bool reduce(Crew& crew, const Reduce& asked) {
  const std::uint64_t most = elements_of_piece(crew, asked.type);
  const auto root = static_cast<std::uint32_t>(asked.root);
  crew.agree(terms_of(asked));
  for (std::uint64_t first = 0; first < asked.count; first += most) {
    const Round round = first != 0           ? Round::later
                        : asked.count > most ? Round::first_of_several
                                             : Round::only;
    const Run run(asked, first, std::min(most, asked.count - first));
    crew.begin();
    if (crew.me() == root) {
      // Into the cell before it is posted: to fill it again in this round, the root would have to wait for
      // the others to finish it, and they wake only those who have finished it themselves.
      const bool ordered = !asked.operation.commutative;
      const std::byte* const own = ordered ? give(crew, run.own(), run.bytes()) : nullptr;
      if (ordered && own == nullptr) return false;
      if (round == Round::first_of_several && !told_all(crew)) return false;
      if (!collect(crew, run, own)) return false;
      if (round == Round::only && !crew.equal() && !told_all(crew)) return false;
      crew.all_have_begun();
      crew.finish();
    } else {
      if (give(crew, run.own(), run.bytes()) == nullptr) return false;
      crew.post(root);
      if (round == Round::first_of_several && crew.read(root) == nullptr) return false;
      crew.finish();
    }
    if (round == Round::first_of_several && !crew.equal()) break;
  }
  return true;
}

bool allreduce(Crew& crew, const Reduce& asked) {
  const std::uint64_t most = elements_of_cell(crew, asked.type);
  crew.agree(terms_of(asked));
  for (std::uint64_t first = 0; first < asked.count; first += most) {
    const std::uint64_t count = std::min(most, asked.count - first);
    const Run run(asked, first, count);
    // Worth two rounds once the vectors take longer than a round.
    const bool parts = run.bytes() * crew.size() > 16384 && count >= crew.size();
    if (parts                   ? !allreduce_parts(crew, asked, first, count)
        : Families(crew).flat() ? !allreduce_flat(crew, run)
                                : !allreduce_families(crew, run))
      return false;
    if (!crew.equal()) break;  // all know it by now, those of other families from member 0
  }
  return true;
}

}  // namespace starling::mpi::coll::node
