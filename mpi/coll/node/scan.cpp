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
bool add_families(Board& board, const Run& run, Own counts, const std::byte* own, bool empty) {
  const Families families(board);
  board.begin();
  if (board.me() + 1 == families.end() && families.end() != board.size()) {
    std::byte* const cell = board.cell();
    if (cell == nullptr) return false;
    Growth family(run, cell, counts == Own::counts ? run.result() : own);
    if (counts == Own::left_out && !empty && board.equal()) family.prepend(run.result());
    family.finish();
    board.post();
  }
  Growth result(run, run.result(), empty ? nullptr : run.result());
  const bool complete = families.each_last_before(
      [&](std::uint32_t last) { return result.prepend_members(board, last, last + 1); });
  if (!complete) return false;
  result.finish();
  board.finish();
  return true;
}

bool prefix(Board& board, const Run& run, Own counts) {
  const Families families(board);
  const std::uint32_t begin = families.flat() ? 0 : families.head();
  board.begin();
  // In place the own operand is overwritten below; it stands in the cell, for this member too.
  const std::byte* const own = give(board, run.own(), run.bytes());
  if (own == nullptr) return false;
  board.post();
  Growth result(run, run.result(), counts == Own::counts ? run.own() : nullptr);
  if (!result.prepend_members(board, begin, board.me())) return false;
  result.finish();
  board.finish();
  const bool empty = counts == Own::left_out && board.me() == begin;
  return families.flat() || add_families(board, run, counts, own, empty);
}

bool prefixes(Board& board, const Reduce& asked, Own counts) {
  const std::uint64_t most = elements_of_piece(board, asked.type);
  board.agree(signature_of(asked));
  for (std::uint64_t first = 0; first < asked.count; first += most) {
    if (!prefix(board, Run(asked, first, std::min(most, asked.count - first)), counts)) return false;
  }
  return true;
}

}  // namespace

bool scan(Board& board, const Reduce& asked) { return prefixes(board, asked, Own::counts); }
bool exscan(Board& board, const Reduce& asked) { return prefixes(board, asked, Own::left_out); }

}  // namespace starling::mpi::coll::node
