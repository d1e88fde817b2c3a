// SPDX-License-Identifier: BSD-3-Clause
// MPI_Gatherv, MPI_Alltoallv and MPI_Alltoallw on a board. What is hard: the two ends of a block may disagree
// about its size, which is the program's error and must not become a hang. Layer: mpi.
// docs/design/node-collectives.md

#include "mpi/coll/node/parcels.hpp"

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

  void fill(std::byte* at, const Buffer& block, int member, Parcels& parcels) const {
    std::memcpy(at, &block.bytes, sizeof block.bytes);
    if (block.bytes <= room_) {
      put(block, 0, at + sizeof block.bytes, static_cast<std::size_t>(block.bytes));
    } else {
      parcels.to.push_back(member);
    }
  }
  void empty(const std::byte* at, const Buffer& block, int member, Parcels& parcels) const {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    if (bytes > room_) {
      parcels.from.push_back(member);  // the message finds out whether it is too long
      return;
    }
    if (bytes != block.bytes) parcels.unequal = {member, Terms(bytes), Terms(block.bytes)};
    take(block, 0, at + sizeof bytes, static_cast<std::size_t>(std::min(bytes, block.bytes)));
  }

 private:
  std::size_t room_;
};

void copy_own(const Buffer& from, const Buffer& to, int me, Parcels& parcels) {
  if (from.bytes != to.bytes) parcels.unequal = {me, Terms(from.bytes), Terms(to.bytes)};
  copy_buffer(from, to);
}

[[nodiscard]] Parcels died() {
  Parcels parcels;
  parcels.complete = false;
  return parcels;
}

}  // namespace

Parcels gatherv(Crew& crew, const Gather& asked) {
  const auto root = static_cast<std::uint32_t>(asked.root);
  const Place place(crew.capacity());
  Parcels parcels;
  crew.agree(Terms{});
  crew.begin();
  if (crew.me() != root) {
    std::byte* const cell = crew.cell();
    if (cell == nullptr) return died();
    place.fill(cell, region(asked.send, asked.count, asked.type), asked.root, parcels);
    crew.post(root);
    crew.finish();
    return parcels;
  }
  if (!asked.in_place)
    copy_own(region(asked.send, asked.count, asked.type), asked.receive.block(asked.root), asked.root,
             parcels);
  const bool complete = each_other(crew, [&](std::uint32_t member) {
    const std::byte* const cell = crew.read(member);
    const auto index = static_cast<int>(member);
    if (cell != nullptr) place.empty(cell, asked.receive.block(index), index, parcels);
    return cell != nullptr;
  });
  if (!complete) return died();
  crew.all_have_begun();
  crew.finish();
  return parcels;
}

Parcels alltoallv(Crew& crew, const Alltoall& asked) {
  const auto me = static_cast<int>(crew.me());
  const std::size_t most = share(crew);
  const Place place(most);
  Parcels parcels;
  crew.agree(Terms{});
  crew.begin();
  std::byte* const cell = crew.cell();
  if (cell == nullptr) return died();
  (void)each_other(crew, [&](std::uint32_t member) {
    const auto index = static_cast<int>(member);
    place.fill(cell + member * most, asked.send.block(index), index, parcels);
    return true;
  });
  crew.post();
  copy_own(asked.send.block(me), asked.receive.block(me), me, parcels);
  const bool complete = each_other(crew, [&](std::uint32_t member) {
    const std::byte* const theirs = crew.read(member);
    const auto index = static_cast<int>(member);
    if (theirs != nullptr) place.empty(theirs + crew.me() * most, asked.receive.block(index), index, parcels);
    return theirs != nullptr;
  });
  if (!complete) return died();
  crew.all_have_begun();
  crew.finish();
  return parcels;
}

}  // namespace starling::mpi::coll::node
