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
bool allreduce_flat(Board& board, const Run& run) {
  board.begin();
  if (give(board, run.own(), run.bytes()) == nullptr) return false;
  board.post();
  Growth result(run, run.result());
  if (!result.prepend_members(board, 0, board.size())) return false;
  result.finish();
  board.all_have_begun();
  board.finish();
  return true;
}

/// Up through the heads of families to member 0, and down in one step: two rounds.
bool allreduce_families(Board& board, const Run& run) {
  const Families families(board);
  board.begin();
  if (give(board, run.own(), run.bytes()) == nullptr) return false;
  if (families.heads()) {
    // In place the own operand is overwritten here; it stands in the cell.
    std::byte* const cell = board.cell();
    Growth result(run, run.result());
    if (board.me() == 0) {
      const bool complete = families.each_other_head(
          [&](std::uint32_t head) { return result.prepend_members(board, head, head + 1); });
      if (!complete) return false;
    }
    if (!result.prepend_members(board, board.me() + 1, families.end())) return false;
    result.prepend(cell);
    result.finish();
    if (board.me() != 0) run.set(cell, run.result());
  }
  board.post(families.reader());  // member 0 too, for one whose length is such that it reads everybody
  board.finish();

  board.begin();
  if (board.me() == 0) {
    if (give(board, run.result(), run.bytes()) == nullptr) return false;
    board.post();
  } else {
    const std::byte* const value = board.read(0);
    if (value == nullptr) return false;
    run.set(run.result(), value);
  }
  board.all_have_begun();
  board.finish(0);
  return true;
}

/// The second round, if others take one, of members that have seen all and disagree. Those who meet in
/// families wait for member 0 only.
bool end_of_parts(Board& board) {
  if (Families(board).flat()) return true;
  board.begin();
  if (board.cell() == nullptr) return false;
  board.post();
  board.finish();
  return true;
}

/// Each member combines one part of the vectors, and reads the others' results: two rounds, and no part is
/// combined twice.
bool allreduce_parts(Board& board, const Reduce& asked, std::uint64_t first, std::uint64_t count) {
  const Run all(asked, first, count);
  const std::uint32_t me = board.me(), size = board.size();
  const Split split{count, static_cast<int>(size)};
  const auto part_of = [&](std::uint32_t member) {
    const auto index = static_cast<int>(member);
    return Run(asked, first + split.begin(index), split.size(index));
  };
  const std::uint64_t start = split.begin(static_cast<int>(me)) * asked.type.size;
  const Run mine = part_of(me);
  // Nobody else reads the own part. If the order is free it comes first, else it stands in the cell, since in
  // place it is written over.
  const bool ordered = !asked.operation.commutative;
  board.begin();
  std::byte* const cell = board.cell();
  if (cell == nullptr) return false;
  const std::uint64_t behind = ordered ? start : start + mine.bytes();
  copy_payload(cell + behind, all.own() + behind, all.bytes() - behind);
  copy_first_line_last(cell, all.own(), start);
  board.post();
  Growth result(mine, mine.result(), ordered ? nullptr : mine.own());
  for (std::uint32_t member = size; member-- > 0;) {
    if (member == me && !ordered) continue;
    const std::byte* const vector = board.read(member);
    if (vector == nullptr) return false;
    if (board.equal()) [[likely]]
      result.prepend(vector + start);
  }
  result.finish();
  board.all_have_begun();
  board.finish();
  if (!board.equal()) [[unlikely]]
    return end_of_parts(board);

  board.begin();
  if (give(board, mine.result(), mine.bytes()) == nullptr) return false;
  board.post();
  for (std::uint32_t step = 1; step < size; ++step) {
    const std::uint32_t member = (me + step) % size;
    const std::byte* const value = board.read(member);
    if (value == nullptr) return false;
    const Run theirs = part_of(member);
    theirs.set(theirs.result(), value);
  }
  board.all_have_begun();
  board.finish();
  return true;
}

/// The root reads everybody, from the last to the first; its own operand may come first if the order is free,
/// else it stands in the root's cell: `own`.
bool collect(Board& board, const Run& run, const std::byte* own) {
  const std::uint32_t me = board.me(), size = board.size();
  Growth result(run, run.result(), own == nullptr ? run.own() : nullptr);
  if (!result.prepend_members(board, me + 1, size)) return false;
  if (own != nullptr) result.prepend(own);
  if (!result.prepend_members(board, 0, me)) return false;
  result.finish();
  return true;
}

}  // namespace

bool reduce(Board& board, const Reduce& asked) {
  const std::uint64_t most = elements_of_piece(board, asked.type);
  const auto root = static_cast<std::uint32_t>(asked.root);
  board.agree(signature_of(asked));
  for (std::uint64_t first = 0; first < asked.count; first += most) {
    const Round round = first != 0           ? Round::later
                        : asked.count > most ? Round::first_of_several
                                             : Round::only;
    const Run run(asked, first, std::min(most, asked.count - first));
    board.begin();
    if (board.me() == root) {
      // Copied before the cell is posted: filling it again in this round would wait for members who wake only
      // those that have finished it.
      const bool ordered = !asked.operation.commutative;
      const std::byte* const own = ordered ? give(board, run.own(), run.bytes()) : nullptr;
      if (ordered && own == nullptr) return false;
      if (round == Round::first_of_several && !told_all(board)) return false;
      if (!collect(board, run, own)) return false;
      if (round == Round::only && !board.equal() && !told_all(board)) return false;
      board.all_have_begun();
      board.finish();
    } else {
      if (give(board, run.own(), run.bytes()) == nullptr) return false;
      board.post(root);
      if (round == Round::first_of_several && board.read(root) == nullptr) return false;
      board.finish();
    }
    if (round == Round::first_of_several && !board.equal()) break;
  }
  return true;
}

bool reduce_nothing(Board& board, const Reduce& asked) {
  if (asked.count == 0) return true;
  board.agree(CallSignature::disagreement(), signature_of(asked));
  board.begin();  // of several rounds too: the others end after the first
  if (!told_all(board)) return false;
  board.all_have_begun();
  board.finish();
  return true;
}

bool allreduce(Board& board, const Reduce& asked) {
  const std::uint64_t most = elements_of_cell(board, asked.type);
  board.agree(signature_of(asked));
  for (std::uint64_t first = 0; first < asked.count; first += most) {
    const std::uint64_t count = std::min(most, asked.count - first);
    const Run run(asked, first, count);
    // Worth two rounds once the vectors take longer than a round.
    const bool parts = run.bytes() * board.size() > 16384 && count >= board.size();
    if (parts                    ? !allreduce_parts(board, asked, first, count)
        : Families(board).flat() ? !allreduce_flat(board, run)
                                 : !allreduce_families(board, run))
      return false;
    if (!board.equal()) break;  // all know it by now, those of other families from member 0
  }
  return true;
}

}  // namespace starling::mpi::coll::node
