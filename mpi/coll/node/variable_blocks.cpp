// SPDX-License-Identifier: BSD-3-Clause
// MPI_Gatherv, MPI_Alltoallv and MPI_Alltoallw on a board. What is hard: the two ends of a block may disagree
// about its size, which is the program's error and must not become a hang. Layer: mpi.
// docs/design/node-collectives.md

#include "mpi/coll/node/variable_blocks.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/coll/execution.hpp"
#include "mpi/coll/node/pieces.hpp"

namespace starling::mpi::coll::node {
namespace {

/// A place on a cell: the block's size, then the block if it fits.
class Place {
 public:
  explicit Place(std::size_t bytes) noexcept : room_(bytes - sizeof(std::uint64_t)) {}

  void fill(std::byte* at, const Buffer& block, int member, BlocksLeft& left) const {
    std::memcpy(at, &block.bytes, sizeof block.bytes);
    if (block.bytes <= room_) {
      put(block, 0, at + sizeof block.bytes, static_cast<std::size_t>(block.bytes));
    } else {
      left.to.push_back(member);
    }
  }
  void empty(const std::byte* at, const Buffer& block, int member, BlocksLeft& left) const {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    if (bytes > room_) {
      left.from.push_back(member);  // the message finds out whether it is too long
      return;
    }
    if (bytes != block.bytes) left.unequal = {member, CallSignature(bytes), CallSignature(block.bytes)};
    take(block, 0, at + sizeof bytes, static_cast<std::size_t>(std::min(bytes, block.bytes)));
  }

 private:
  std::size_t room_;
};

void copy_own(const Buffer& from, const Buffer& to, int me, BlocksLeft& left) {
  if (from.bytes != to.bytes) left.unequal = {me, CallSignature(from.bytes), CallSignature(to.bytes)};
  copy_buffer(from, to);
}

[[nodiscard]] BlocksLeft died() {
  BlocksLeft left;
  left.complete = false;
  return left;
}

}  // namespace

BlocksLeft gatherv(Board& board, const Gather& asked) {
  const auto root = static_cast<std::uint32_t>(asked.root);
  const Place place(board.capacity());
  BlocksLeft left;
  board.agree(CallSignature{});
  board.begin();
  if (board.me() != root) {
    std::byte* const cell = board.cell();
    if (cell == nullptr) return died();
    place.fill(cell, region(asked.send, asked.count, asked.type), asked.root, left);
    board.post(root);
    board.finish();
    return left;
  }
  if (!asked.in_place)
    copy_own(region(asked.send, asked.count, asked.type), asked.receive.block(asked.root), asked.root, left);
  const bool complete = each_other(board, [&](std::uint32_t member) {
    const std::byte* const cell = board.read(member);
    const auto index = static_cast<int>(member);
    if (cell != nullptr) place.empty(cell, asked.receive.block(index), index, left);
    return cell != nullptr;
  });
  if (!complete) return died();
  board.all_have_begun();
  board.finish();
  return left;
}

BlocksLeft alltoallv(Board& board, const Alltoall& asked) {
  const auto me = static_cast<int>(board.me());
  const std::size_t most = share(board);
  const Place place(most);
  BlocksLeft left;
  board.agree(CallSignature{});
  board.begin();
  std::byte* const cell = board.cell();
  if (cell == nullptr) return died();
  (void)each_other(board, [&](std::uint32_t member) {
    const auto index = static_cast<int>(member);
    place.fill(cell + member * most, asked.send.block(index), index, left);
    return true;
  });
  board.post();
  copy_own(asked.send.block(me), asked.receive.block(me), me, left);
  const bool complete = each_other(board, [&](std::uint32_t member) {
    const std::byte* const theirs = board.read(member);
    const auto index = static_cast<int>(member);
    if (theirs != nullptr) place.empty(theirs + board.me() * most, asked.receive.block(index), index, left);
    return theirs != nullptr;
  });
  if (!complete) return died();
  board.all_have_begun();
  board.finish();
  return left;
}

}  // namespace starling::mpi::coll::node
