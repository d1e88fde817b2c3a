// SPDX-License-Identifier: BSD-3-Clause
// Layer: mpi. docs/design/collectives.md

#include "mpi/launch/unequal.hpp"

#include "mpi/launch/launch.hpp"

namespace starling::mpi::coll {
namespace {

constexpr const char* kRule = "; counts and types must match on all processes";

std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

std::string second_hand(int rank) {
  return "lengths differ, as " + rank_text(rank) + " reports, which passes nothing on" + kRule;
}

std::string lengths_text(int rank, std::uint64_t sent, std::uint64_t expected) {
  return rank_text(rank) + " sends " + std::to_string(sent) + " bytes, this rank expects " +
         std::to_string(expected) + kRule;
}

/// "MPI_SUM", of Operator::code.
std::string operation_text(std::uint8_t code) {
  for (const Op* const op : predefined_ops()) {
    if (view(*op).code == code) return op->name;
  }
  return "another operation";
}

}  // namespace

std::string unequal_text(int rank, const Execution::Lengths& lengths) {
  if (lengths.sent == 0) return second_hand(rank);
  if (lengths.sent != lengths.expected) return lengths_text(rank, lengths.sent, lengths.expected);
  return rank_text(rank) + " sends more than the " + std::to_string(lengths.expected) +
         " bytes that this rank expects" + kRule;
}

std::string unequal_text(const node::Difference& difference) {
  const node::CallSignature theirs = difference.theirs, ours = difference.ours;
  if (theirs.broken()) return second_hand(difference.member);
  if (theirs.bytes() != ours.bytes()) return lengths_text(difference.member, theirs.bytes(), ours.bytes());
  const std::string who = rank_text(difference.member);
  if (node::is_rounds(ours.detail())) return who + " has other counts than this rank" + kRule;
  return who + " asks for " + operation_text(theirs.detail()) + ", this rank for " +
         operation_text(ours.detail());
}

std::string told_text(int rank) { return "a member has ended, as rank " + std::to_string(rank) + " reports"; }

}  // namespace starling::mpi::coll
