// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data only: each member's bytes stand in its cell once, and whoever wants them copies
// them from there. Layer: mpi. docs/design/node-collectives.md

#include <algorithm>

#include "mpi/coll/execution.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/node/pieces.hpp"

namespace starling::mpi::coll::node {
namespace {

std::size_t piece_at(std::uint64_t bytes, std::uint64_t offset, std::size_t most) noexcept {
  return offset >= bytes ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(bytes - offset, most));
}

/// The piece that a reader may take of what `member` gives, of which it expects `block` bytes.
std::size_t common_piece(const Board& board, std::uint32_t member, std::uint64_t block, std::uint64_t offset,
                         std::size_t most) noexcept {
  return piece_at(board.given(member, block), offset, most);
}

/// How much the root's call is about: it alone knows how many rounds it takes.
std::uint64_t dictated(const Difference& difference) noexcept {
  return difference.theirs.broken() ? 0 : difference.theirs.bytes();
}

/// A member's block for itself.
void copy_own(Board& board, const Buffer& from, const Buffer& to) {
  if (from.bytes != to.bytes) [[unlikely]]
    board.differ(board.me(), CallSignature(from.bytes), CallSignature(to.bytes));
  copy_buffer(from, to);
}

}  // namespace

bool bcast(Board& board, const Bcast& asked) {
  const Buffer buffer = region(asked.buffer, asked.count, asked.type);
  const auto root = static_cast<std::uint32_t>(asked.root);
  const std::size_t most = board.capacity();
  std::uint64_t all = buffer.bytes;
  board.agree(CallSignature(all));
  for (std::uint64_t at = 0; at < all; at += most) {
    board.begin();
    if (board.me() == root) {
      std::byte* const cell = board.cell();
      if (cell == nullptr) return false;
      put(buffer, at, cell, piece_at(all, at, most));
      board.post();
      board.finish(root);
    } else {
      const std::byte* const cell = board.read(root);
      if (cell == nullptr) return false;
      if (!board.equal()) [[unlikely]]
        all = dictated(board.difference());
      take(buffer, at, cell, common_piece(board, root, buffer.bytes, at, most));
      board.finish(root);
    }
  }
  return true;
}

bool bcast_nothing(Board& board) {
  board.agree(CallSignature::disagreement());
  board.begin();
  if (board.cell() == nullptr) return false;
  board.post();
  board.finish(board.me());
  return true;
}

bool gather(Board& board, const Gather& asked) {
  const auto root = static_cast<std::uint32_t>(asked.root);
  const bool collects = board.me() == root;
  const Buffer own = asked.in_place && collects ? Buffer{} : region(asked.send, asked.count, asked.type);
  const std::uint64_t block = collects ? asked.receive.bytes(0) : own.bytes;
  const std::size_t most = board.piece();
  board.agree(CallSignature(block));
  if (collects && !asked.in_place) copy_own(board, own, asked.receive.block(asked.root));
  for (std::uint64_t at = 0; at < block; at += most) {
    const Round round = at != 0 ? Round::later : block > most ? Round::first_of_several : Round::only;
    board.begin();
    if (!collects) {
      std::byte* const cell = board.cell();
      if (cell == nullptr) return false;
      put(own, at, cell, piece_at(block, at, most));
      board.post(root);
      if (round == Round::first_of_several && board.read(root) == nullptr) return false;
      board.finish();
    } else {
      if (round == Round::first_of_several && !told_all(board)) return false;
      const bool complete = each_other(board, [&](std::uint32_t member) {
        const std::byte* const cell = board.read(member);
        if (cell != nullptr)
          take(asked.receive.block(static_cast<int>(member)), at, cell,
               common_piece(board, member, block, at, most));
        return cell != nullptr;
      });
      if (!complete) return false;
      if (round == Round::only && !board.equal() && !told_all(board)) return false;
      board.all_have_begun();
      board.finish();
    }
    if (round == Round::first_of_several && !board.equal()) break;
  }
  return true;
}

bool scatter(Board& board, const Scatter& asked) {
  const auto root = static_cast<std::uint32_t>(asked.root);
  const bool gives = board.me() == root;
  const Buffer own = asked.in_place && gives ? Buffer{} : region(asked.receive, asked.count, asked.type);
  std::uint64_t block = gives ? asked.send.bytes(0) : own.bytes;
  const std::size_t most = share(board);
  board.agree(CallSignature(block));
  for (std::uint64_t at = 0; at < block; at += most) {
    board.begin();
    if (gives) {
      std::byte* const cell = board.cell();
      if (cell == nullptr) return false;
      const std::size_t bytes = piece_at(block, at, most);
      for (std::uint32_t member = 0; member < board.size(); ++member) {
        if (member != root) put(asked.send.block(static_cast<int>(member)), at, cell + member * most, bytes);
      }
      board.post();
      board.finish(root);
    } else {
      const std::byte* const cell = board.read(root);
      if (cell == nullptr) return false;
      if (!board.equal()) [[unlikely]]
        block = dictated(board.difference());
      take(own, at, cell + board.me() * most, common_piece(board, root, own.bytes, at, most));
      board.finish(root);
    }
  }
  // Only now: what is wrong about it does not concern the others.
  if (gives && !asked.in_place) copy_own(board, asked.send.block(asked.root), own);
  return true;
}

bool allgather(Board& board, const Gather& asked) { return allgather(board, asked, false); }

bool allgather(Board& board, const Gather& asked, bool nothing) {
  const int me = static_cast<int>(board.me());
  const Buffer own = asked.in_place ? asked.receive.block(me) : region(asked.send, asked.count, asked.type);
  const std::size_t most = board.piece();
  std::uint64_t longest = 0;
  for (std::uint32_t member = 0; member < board.size(); ++member)
    longest = std::max(longest, asked.receive.bytes(static_cast<int>(member)));
  const std::uint8_t rounds = rounds_detail(longest, most);
  const CallSignature ours(own.bytes, rounds);
  board.agree(nothing ? CallSignature::disagreement() : ours, ours);
  for (std::uint64_t at = 0; at < longest; at += most) {
    board.begin();
    std::byte* const cell = board.cell();
    if (cell == nullptr) return false;
    put(own, at, cell, piece_at(own.bytes, at, most));
    board.post();
    if (at == 0 && !asked.in_place) copy_own(board, own, asked.receive.block(me));
    const bool complete = each_other(board, [&](std::uint32_t member) {
      const Buffer block = asked.receive.block(static_cast<int>(member));
      board.expect(CallSignature(block.bytes, rounds));
      const std::byte* const theirs = board.read(member);
      if (theirs == nullptr) return false;
      take(block, at, theirs, common_piece(board, member, block.bytes, at, most));
      return true;
    });
    if (!complete) return false;
    board.all_have_begun();
    board.finish();
    if (board.difference().detail) break;
  }
  return true;
}

bool alltoall(Board& board, const Alltoall& asked) {
  const int me = static_cast<int>(board.me());
  const std::uint64_t block = asked.receive.bytes(0), given = asked.send.bytes(0);
  const std::size_t most = share(board);
  const std::uint8_t rounds = rounds_detail(block, most);
  board.agree(CallSignature(given, rounds), CallSignature(block, rounds));
  for (std::uint64_t at = 0; at < block; at += most) {
    board.begin();
    std::byte* const cell = board.cell();
    if (cell == nullptr) return false;
    (void)each_other(board, [&](std::uint32_t member) {
      put(asked.send.block(static_cast<int>(member)), at, cell + member * most, piece_at(given, at, most));
      return true;
    });
    board.post();
    if (at == 0) copy_own(board, asked.send.block(me), asked.receive.block(me));
    const bool complete = each_other(board, [&](std::uint32_t member) {
      const std::byte* const theirs = board.read(member);
      if (theirs != nullptr)
        take(asked.receive.block(static_cast<int>(member)), at, theirs + board.me() * most,
             common_piece(board, member, block, at, most));
      return theirs != nullptr;
    });
    if (!complete) return false;
    board.all_have_begun();
    board.finish();
    if (board.difference().detail) break;
  }
  return true;
}

}  // namespace starling::mpi::coll::node
