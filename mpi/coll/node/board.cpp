// SPDX-License-Identifier: BSD-3-Clause
// Waiting at a board when a few looks were not enough. Layer: mpi.

#include "mpi/coll/node/board.hpp"

namespace starling::mpi::coll::node {

bool Board::wait(Question question, std::uint32_t member) noexcept {
  Asked asked{&rounds_, question, member};
  const auto ready = [](void* context) {
    const auto& what = *static_cast<const Asked*>(context);
    return what.question(*what.rounds, what.member);
  };
  return patience_.wait(ready, &asked, member);
}

// Of two that finish at once, at least one sees the other: a full fence lies between word and look.
void Board::wake_writers() noexcept {
  if (rounds_.nobody_behind()) patience_.finished();
}

void Board::differ(std::uint32_t member, CallSignature theirs, CallSignature ours) noexcept {
  difference_.detail = difference_.detail || (!theirs.broken() && theirs.detail() != ours.detail());
  if (equal() || difference_.theirs.broken()) {  // who disagrees itself says more than who has heard of it
    difference_.member = static_cast<int>(member);
    difference_.theirs = theirs;
    difference_.ours = ours;
  }
  ours_ = CallSignature::disagreement();
}

}  // namespace starling::mpi::coll::node
