// SPDX-License-Identifier: BSD-3-Clause
// MPI_Barrier on a board. Layer: mpi. docs/design/node-collectives.md

#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/families.hpp"

namespace starling::mpi::coll::node {

bool arrive(Board& board, std::uint32_t head) {
  const Families families(board);
  const std::uint32_t me = board.me();
  board.agree(CallSignature{});
  board.begin();
  if (families.flat() ? me == head : families.heads()) {
    for (std::uint32_t member = families.head(); member < families.end(); ++member) {
      if (member != me && !board.meet(member)) return false;
    }
  }
  board.post(families.flat() ? head : families.reader(head));
  if (!families.flat() && me == head &&
      !families.each_head([&](std::uint32_t other) { return other == me || board.meet(other); }))
    return false;
  board.finish();
  return true;
}

bool leave(Board& board, std::uint32_t head) {
  board.begin();
  if (board.me() == head) {
    board.post();
  } else if (!board.meet(head)) {
    return false;
  }
  board.all_have_begun();
  board.finish();
  return true;
}

bool barrier(Board& board) {
  if (!Families(board).flat()) return arrive(board, 0) && leave(board, 0);
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
