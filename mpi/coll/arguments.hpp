// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What each collective was asked for, after the argument checks. Layer: mpi. MPI 5.0 chapter 6.
///
/// `in_place` stands for MPI_IN_PLACE; the buffer that it replaces is then not looked at. Arguments that are
/// significant at the root only are not looked at elsewhere.
/// Threads: values.
/// Ownership: everything is borrowed, types and arrays while a schedule is built, buffers and datatypes until
///            it has completed.

#include <cstdint>
#include <span>

#include "mpi/coll/blocks.hpp"
#include "mpi/coll/type.hpp"

namespace starling::mpi::coll {

class Hierarchy;

/// Who takes part.
struct Team {
  int rank = 0;
  int size = 1;
  int remote = 0;  ///< size of the remote group of an intercommunicator
  bool inter = false;
  const Hierarchy* hierarchy = nullptr;  ///< of members on several nodes, several of them on one; else null
};

/// Roots of an intercommunicator's operations, besides a rank of the remote group. MPI 5.0 section 6.2.3.
inline constexpr int kRootHere = -3;  ///< MPI_ROOT: this process is the root
inline constexpr int kNoPart = -1;    ///< MPI_PROC_NULL: this process is in the root's group and does nothing

/// Stands for a neighbour that does not exist: its blocks are left alone.
inline constexpr int kNobody = -1;

/// Whom a process receives from and sends to in a neighbourhood collective, in the order of its blocks.
/// MPI 5.0 section 8.6. Borrowed while a schedule is built.
struct Neighbors {
  std::span<const int> sources, destinations;
  /// Neighbours 2d and 2d + 1 are the lower and the upper one in dimension d of a grid. What is sent to the
  /// upper one arrives there from its lower one, also where both are the same process.
  bool grid = false;
};

struct Bcast {
  void* buffer = nullptr;
  std::uint64_t count = 0;
  Type type;
  int root = 0;
};

/// reduce, allreduce, scan, exscan; for the last three root has no meaning.
struct Reduce {
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;
  Type type;
  Operator operation;
  int root = 0;
  bool in_place = false;
};

/// gather(v): `send` is this process's part, `receive` all parts (at the root). allgather(v): all parts at
/// every process.
struct Gather {
  const void* send = nullptr;
  std::uint64_t count = 0;
  Type type;
  Blocks receive;
  int root = 0;
  bool in_place = false;
};

/// scatter(v): the reverse of gather; in_place replaces the receive buffer at the root.
struct Scatter {
  Blocks send;
  void* receive = nullptr;
  std::uint64_t count = 0;
  Type type;
  int root = 0;
  bool in_place = false;
};

struct Alltoall {
  Blocks send;
  Blocks receive;
  bool in_place = false;
};

/// reduce_scatter(_block): the results of the ranks lie in the vector that is sent one after the other,
/// without gaps; the receive buffer holds this rank's block (in place: the whole vector, whose start is
/// overwritten).
struct ReduceScatter {
  const void* send = nullptr;
  void* receive = nullptr;
  Ints counts;              ///< one per rank, or
  std::uint64_t count = 0;  ///< the same for all
  Type type;
  Operator operation;
  bool in_place = false;
  [[nodiscard]] std::uint64_t part(int rank) const noexcept {
    return counts ? static_cast<std::uint64_t>(counts[rank]) : count;
  }
  /// Elements before rank's block; rank == ranks gives the whole vector.
  [[nodiscard]] std::uint64_t offset(int rank) const noexcept {
    if (!counts) return count * static_cast<std::uint64_t>(rank);
    std::uint64_t sum = 0;
    for (int i = 0; i < rank; ++i) sum += part(i);
    return sum;
  }
  /// The reduction of the whole vector of `elements` to `result`, before its parts go to their ranks.
  [[nodiscard]] Reduce whole(void* result, std::uint64_t elements) const noexcept {
    Reduce all;
    all.send = in_place ? receive : send;
    all.receive = result;
    all.count = elements;
    all.type = type;
    all.operation = operation;
    return all;
  }
};

}  // namespace starling::mpi::coll
