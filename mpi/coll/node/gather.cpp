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

}  // namespace

bool bcast(Crew& crew, const Bcast& asked) {
  const Buffer buffer = region(asked.buffer, asked.count, asked.type);
  const auto root = static_cast<std::uint32_t>(asked.root);
  for (std::uint64_t at = 0; at < buffer.bytes; at += crew.capacity()) {
    const std::size_t bytes = piece_at(buffer.bytes, at, crew.capacity());
    crew.begin();
    if (crew.me() == root) {
      std::byte* const cell = crew.cell();
      if (cell == nullptr) return false;
      put(buffer, at, cell, bytes);
      crew.post();
      crew.finish(crew.me());
    } else {
      const std::byte* const cell = crew.read(root);
      if (cell == nullptr) return false;
      take(buffer, at, cell, bytes);
      crew.finish(root);
    }
  }
  return true;
}

bool gather(Crew& crew, const Gather& asked) {
  const auto root = static_cast<std::uint32_t>(asked.root);
  const bool collects = crew.me() == root;
  const Buffer own = asked.in_place && collects ? Buffer{} : region(asked.send, asked.count, asked.type);
  const std::uint64_t block = collects ? asked.receive.bytes(0) : own.bytes;
  if (collects && !asked.in_place) copy_buffer(own, asked.receive.block(asked.root));
  for (std::uint64_t at = 0; at < block; at += crew.capacity()) {
    const std::size_t bytes = piece_at(block, at, crew.capacity());
    crew.begin();
    if (!collects) {
      std::byte* const cell = crew.cell();
      if (cell == nullptr) return false;
      put(own, at, cell, bytes);
      crew.post(root);
      crew.finish(crew.me());
      continue;
    }
    const bool complete = each_other(crew, [&](std::uint32_t member) {
      const std::byte* const cell = crew.read(member);
      if (cell != nullptr) take(asked.receive.block(static_cast<int>(member)), at, cell, bytes);
      return cell != nullptr;
    });
    if (!complete) return false;
    crew.all_have_begun();
    crew.finish_all();
  }
  return true;
}

bool scatter(Crew& crew, const Scatter& asked) {
  const auto root = static_cast<std::uint32_t>(asked.root);
  const bool gives = crew.me() == root;
  const Buffer own = asked.in_place && gives ? Buffer{} : region(asked.receive, asked.count, asked.type);
  const std::uint64_t block = gives ? asked.send.bytes(0) : own.bytes;
  const std::size_t most = share(crew);
  if (gives && !asked.in_place) copy_buffer(asked.send.block(asked.root), own);
  for (std::uint64_t at = 0; at < block; at += most) {
    const std::size_t bytes = piece_at(block, at, most);
    crew.begin();
    if (gives) {
      std::byte* const cell = crew.cell();
      if (cell == nullptr) return false;
      for (std::uint32_t member = 0; member < crew.size(); ++member) {
        if (member != root) put(asked.send.block(static_cast<int>(member)), at, cell + member * most, bytes);
      }
      crew.post();
      crew.finish(crew.me());
    } else {
      const std::byte* const cell = crew.read(root);
      if (cell == nullptr) return false;
      take(own, at, cell + crew.me() * most, bytes);
      crew.finish(root);
    }
  }
  return true;
}

bool allgather(Crew& crew, const Gather& asked) {
  const int me = static_cast<int>(crew.me());
  const Buffer own = asked.in_place ? asked.receive.block(me) : region(asked.send, asked.count, asked.type);
  std::uint64_t longest = 0;
  for (std::uint32_t member = 0; member < crew.size(); ++member)
    longest = std::max(longest, asked.receive.bytes(static_cast<int>(member)));
  for (std::uint64_t at = 0; at < longest; at += crew.capacity()) {
    crew.begin();
    std::byte* const cell = crew.cell();
    if (cell == nullptr) return false;
    put(own, at, cell, piece_at(own.bytes, at, crew.capacity()));
    crew.post();
    if (at == 0 && !asked.in_place) copy_buffer(own, asked.receive.block(me));
    const bool complete = each_other(crew, [&](std::uint32_t member) {
      const std::byte* const theirs = crew.read(member);
      if (theirs == nullptr) return false;
      const Buffer block = asked.receive.block(static_cast<int>(member));
      take(block, at, theirs, piece_at(block.bytes, at, crew.capacity()));
      return true;
    });
    if (!complete) return false;
    crew.all_have_begun();
    crew.finish_all();
  }
  return true;
}

bool alltoall(Crew& crew, const Alltoall& asked) {
  const int me = static_cast<int>(crew.me());
  const std::uint64_t block = asked.receive.bytes(0);
  const std::size_t most = share(crew);
  for (std::uint64_t at = 0; at < block; at += most) {
    const std::size_t bytes = piece_at(block, at, most);
    crew.begin();
    std::byte* const cell = crew.cell();
    if (cell == nullptr) return false;
    (void)each_other(crew, [&](std::uint32_t member) {
      put(asked.send.block(static_cast<int>(member)), at, cell + member * most, bytes);
      return true;
    });
    crew.post();
    if (at == 0) copy_buffer(asked.send.block(me), asked.receive.block(me));
    const bool complete = each_other(crew, [&](std::uint32_t member) {
      const std::byte* const theirs = crew.read(member);
      if (theirs != nullptr)
        take(asked.receive.block(static_cast<int>(member)), at, theirs + crew.me() * most, bytes);
      return theirs != nullptr;
    });
    if (!complete) return false;
    crew.all_have_begun();
    crew.finish_all();
  }
  return true;
}

}  // namespace starling::mpi::coll::node
