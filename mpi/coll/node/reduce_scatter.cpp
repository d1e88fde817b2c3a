// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_scatter and MPI_Reduce_scatter_block on a board. A round takes a slice of every member's part,
// so that all members have something to combine in each. Layer: mpi. MPI 5.0 section 6.10.
// docs/design/node-collectives.md

#include <algorithm>

#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/run.hpp"

namespace starling::mpi::coll::node {
namespace {

std::uint64_t slice_of(std::uint64_t part, std::uint64_t first, std::uint64_t most) noexcept {
  return first >= part ? 0 : std::min(part - first, most);
}

}  // namespace

/// In place the result overwrites the vector's start, though never an element that is still to be given: the
/// element at x is given in round x / slice or before, whatever part it is in, and is written over by the
/// result of that round at the earliest.
bool reduce_scatter(Board& board, const ReduceScatter& asked) {
  const Type& type = asked.type;
  const auto members = static_cast<int>(board.size()), me = static_cast<int>(board.me());
  const std::uint64_t slice = elements_of_cell(board, type) / board.size();
  const auto place = [&](int member) { return static_cast<std::uint64_t>(member) * slice * type.size; };
  std::uint64_t longest = 0;
  for (int member = 0; member < members; ++member) longest = std::max(longest, asked.part(member));
  board.agree(CallSignature(asked.offset(members) * type.size, asked.operation.code));
  for (std::uint64_t first = 0; first < longest; first += slice) {
    board.begin();
    std::byte* const cell = board.cell();
    if (cell == nullptr) return false;
    std::uint64_t begin = 0;
    for (int member = 0; member < members; begin += asked.part(member++)) {
      const std::byte* const part = element(asked.in_place ? asked.receive : asked.send, begin + first, type);
      copy_payload(cell + place(member), part, slice_of(asked.part(member), first, slice) * type.size);
    }
    board.post();
    const std::uint64_t mine = slice_of(asked.part(me), first, slice);
    std::byte* const result = element(asked.receive, first, type);
    // A member without a part has to know whether there will be another round.
    const bool looks = mine != 0 || (first == 0 && longest > slice);
    const std::byte* right = nullptr;  // of the operation, the result from the second member on
    for (std::uint32_t member = board.size(); looks && member-- > 0;) {
      const std::byte* const theirs = board.read(member);
      if (theirs == nullptr) return false;
      if (mine == 0 || !board.equal()) continue;
      if (right != nullptr)
        asked.operation.apply(asked.operation, theirs + place(me), right, result, mine, type);
      right = right == nullptr ? theirs + place(me) : result;
    }
    if (looks) board.all_have_begun();
    board.finish();
    if (!board.equal()) break;
  }
  return true;
}

}  // namespace starling::mpi::coll::node
