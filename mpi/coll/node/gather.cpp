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
std::size_t common_piece(const Crew& crew, std::uint32_t member, std::uint64_t block, std::uint64_t offset,
                         std::size_t most) noexcept {
  return piece_at(crew.given(member, block), offset, most);
}

/// How much the root's call is about: it alone knows how many rounds it takes.
std::uint64_t dictated(const Difference& difference) noexcept {
  return difference.theirs.broken() ? 0 : difference.theirs.bytes();
}

/// A member's block for itself.
void copy_own(Crew& crew, const Buffer& from, const Buffer& to) {
  if (from.bytes != to.bytes) [[unlikely]]
    crew.differ(crew.me(), Terms(from.bytes), Terms(to.bytes));
  copy_buffer(from, to);
}

}  // namespace

bool bcast(Crew& crew, const Bcast& asked) {
  const Buffer buffer = region(asked.buffer, asked.count, asked.type);
  const auto root = static_cast<std::uint32_t>(asked.root);
  const std::size_t most = crew.capacity();
  std::uint64_t all = buffer.bytes;
  crew.agree(Terms(all));
  for (std::uint64_t at = 0; at < all; at += most) {
    crew.begin();
    if (crew.me() == root) {
      std::byte* const cell = crew.cell();
      if (cell == nullptr) return false;
      put(buffer, at, cell, piece_at(all, at, most));
      crew.post();
      crew.finish(root);
    } else {
      const std::byte* const cell = crew.read(root);
      if (cell == nullptr) return false;
      if (!crew.equal()) [[unlikely]]
        all = dictated(crew.difference());
      take(buffer, at, cell, common_piece(crew, root, buffer.bytes, at, most));
      crew.finish(root);
    }
  }
  return true;
}

bool bcast_nothing(Crew& crew) {
  crew.agree(Terms::disagreement());
  crew.begin();
  if (crew.cell() == nullptr) return false;
  crew.post();
  crew.finish(crew.me());
  return true;
}

bool gather(Crew& crew, const Gather& asked) {
  const auto root = static_cast<std::uint32_t>(asked.root);
  const bool collects = crew.me() == root;
  const Buffer own = asked.in_place && collects ? Buffer{} : region(asked.send, asked.count, asked.type);
  const std::uint64_t block = collects ? asked.receive.bytes(0) : own.bytes;
  const std::size_t most = crew.piece();
  crew.agree(Terms(block));
  if (collects && !asked.in_place) copy_own(crew, own, asked.receive.block(asked.root));
  for (std::uint64_t at = 0; at < block; at += most) {
    const Round round = at != 0 ? Round::later : block > most ? Round::first_of_several : Round::only;
    crew.begin();
    if (!collects) {
      std::byte* const cell = crew.cell();
      if (cell == nullptr) return false;
      put(own, at, cell, piece_at(block, at, most));
      crew.post(root);
      if (round == Round::first_of_several && crew.read(root) == nullptr) return false;
      crew.finish();
    } else {
      if (round == Round::first_of_several && !told_all(crew)) return false;
      const bool complete = each_other(crew, [&](std::uint32_t member) {
        const std::byte* const cell = crew.read(member);
        if (cell != nullptr)
          take(asked.receive.block(static_cast<int>(member)), at, cell,
               common_piece(crew, member, block, at, most));
        return cell != nullptr;
      });
      if (!complete) return false;
      if (round == Round::only && !crew.equal() && !told_all(crew)) return false;
      crew.all_have_begun();
      crew.finish();
    }
    if (round == Round::first_of_several && !crew.equal()) break;
  }
  return true;
}

bool scatter(Crew& crew, const Scatter& asked) {
  const auto root = static_cast<std::uint32_t>(asked.root);
  const bool gives = crew.me() == root;
  const Buffer own = asked.in_place && gives ? Buffer{} : region(asked.receive, asked.count, asked.type);
  std::uint64_t block = gives ? asked.send.bytes(0) : own.bytes;
  const std::size_t most = share(crew);
  crew.agree(Terms(block));
  for (std::uint64_t at = 0; at < block; at += most) {
    crew.begin();
    if (gives) {
      std::byte* const cell = crew.cell();
      if (cell == nullptr) return false;
      const std::size_t bytes = piece_at(block, at, most);
      for (std::uint32_t member = 0; member < crew.size(); ++member) {
        if (member != root) put(asked.send.block(static_cast<int>(member)), at, cell + member * most, bytes);
      }
      crew.post();
      crew.finish(root);
    } else {
      const std::byte* const cell = crew.read(root);
      if (cell == nullptr) return false;
      if (!crew.equal()) [[unlikely]]
        block = dictated(crew.difference());
      take(own, at, cell + crew.me() * most, common_piece(crew, root, own.bytes, at, most));
      crew.finish(root);
    }
  }
  // Only now: what is wrong about it does not concern the others.
  if (gives && !asked.in_place) copy_own(crew, asked.send.block(asked.root), own);
  return true;
}

bool allgather(Crew& crew, const Gather& asked) {
  const int me = static_cast<int>(crew.me());
  const Buffer own = asked.in_place ? asked.receive.block(me) : region(asked.send, asked.count, asked.type);
  const std::size_t most = crew.piece();
  std::uint64_t longest = 0;
  for (std::uint32_t member = 0; member < crew.size(); ++member)
    longest = std::max(longest, asked.receive.bytes(static_cast<int>(member)));
  const std::uint8_t rounds = rounds_detail(longest, most);
  crew.agree(Terms(own.bytes, rounds));
  for (std::uint64_t at = 0; at < longest; at += most) {
    crew.begin();
    std::byte* const cell = crew.cell();
    if (cell == nullptr) return false;
    put(own, at, cell, piece_at(own.bytes, at, most));
    crew.post();
    if (at == 0 && !asked.in_place) copy_own(crew, own, asked.receive.block(me));
    const bool complete = each_other(crew, [&](std::uint32_t member) {
      const Buffer block = asked.receive.block(static_cast<int>(member));
      crew.expect(Terms(block.bytes, rounds));
      const std::byte* const theirs = crew.read(member);
      if (theirs == nullptr) return false;
      take(block, at, theirs, common_piece(crew, member, block.bytes, at, most));
      return true;
    });
    if (!complete) return false;
    crew.all_have_begun();
    crew.finish();
    if (crew.difference().detail) break;
  }
  return true;
}

bool alltoall(Crew& crew, const Alltoall& asked) {
  const int me = static_cast<int>(crew.me());
  const std::uint64_t block = asked.receive.bytes(0), given = asked.send.bytes(0);
  const std::size_t most = share(crew);
  const std::uint8_t rounds = rounds_detail(block, most);
  crew.agree(Terms(given, rounds), Terms(block, rounds));
  for (std::uint64_t at = 0; at < block; at += most) {
    crew.begin();
    std::byte* const cell = crew.cell();
    if (cell == nullptr) return false;
    (void)each_other(crew, [&](std::uint32_t member) {
      put(asked.send.block(static_cast<int>(member)), at, cell + member * most, piece_at(given, at, most));
      return true;
    });
    crew.post();
    if (at == 0) copy_own(crew, asked.send.block(me), asked.receive.block(me));
    const bool complete = each_other(crew, [&](std::uint32_t member) {
      const std::byte* const theirs = crew.read(member);
      if (theirs != nullptr)
        take(asked.receive.block(static_cast<int>(member)), at, theirs + crew.me() * most,
             common_piece(crew, member, block, at, most));
      return theirs != nullptr;
    });
    if (!complete) return false;
    crew.all_have_begun();
    crew.finish();
    if (crew.difference().detail) break;
  }
  return true;
}

}  // namespace starling::mpi::coll::node
