// SPDX-License-Identifier: BSD-3-Clause
// MPI_Barrier on a board. Layer: mpi. docs/design/node-collectives.md

#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/families.hpp"

namespace starling::mpi::coll::node {

bool arrive(Board& board) {
  const Families families(board);
  board.agree(CallSignature{});
  board.begin();
  if (families.heads()) {
    for (std::uint32_t member = board.me() + 1; member < families.end(); ++member) {
      if (!board.meet(member)) return false;
    }
  }
  board.post(families.reader());
  if (board.me() == 0 && !families.each_other_head([&](std::uint32_t head) { return board.meet(head); }))
    return false;
  board.finish();
  return true;
}

bool leave(Board& board) {
  board.begin();
  if (board.me() == 0) {
    board.post();
  } else if (!board.meet(0)) {
    return false;
  }
  board.all_have_begun();
  board.finish();
  return true;
}

bool barrier(Board& board) {
  if (!Families(board).flat()) return arrive(board) && leave(board);
  board.agree(CallSignature{});
  board.begin();
  board.post();
  for (std::uint32_t member = 0; member < board.size(); ++member) {
    if (member != board.me() && !board.meet(member)) return false;
  }
  board.all_have_begun();
  board.finish();
  return true;
}

}  // namespace starling::mpi::coll::node
