// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Graphs of processes: known as a whole by all, or each process knows its own edges. Layer: mpi. MPI
/// 5.0 sections 8.5.3, 8.5.4. docs/design/topology.md
///
/// Threads:   values.
/// Ownership: own their edges.
/// Errors:    none: callers have checked ranks and lengths.

#include <cstdint>
#include <span>
#include <vector>

namespace starling::mpi::topology {

/// MPI_Graph_create: every process knows all edges. Edges may repeat, lead back to their start, and need no
/// counterpart.
class Graph {
 public:
  /// ends[i] is the number of neighbours of the nodes 0..i; `neighbors` lists them node by node.
  Graph(std::vector<int> ends, std::vector<int> neighbors)
      : ends_(std::move(ends)), neighbors_(std::move(neighbors)) {}

  [[nodiscard]] int nodes() const noexcept { return static_cast<int>(ends_.size()); }
  [[nodiscard]] int edges() const noexcept { return static_cast<int>(neighbors_.size()); }
  [[nodiscard]] std::span<const int> all_ends() const noexcept { return ends_; }
  [[nodiscard]] std::span<const int> all_neighbors() const noexcept { return neighbors_; }
  [[nodiscard]] std::span<const int> neighbors(int node) const noexcept {
    const auto at = static_cast<std::size_t>(node);
    const int begin = node == 0 ? 0 : ends_[at - 1];
    return all_neighbors().subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(ends_[at] - begin));
  }

 private:
  std::vector<int> ends_, neighbors_;
};

/// MPI_Dist_graph_create: what one process knows, the edges that end or begin at it.
struct Adjacency {
  std::vector<int> sources, destinations;
  bool weighted = false;
  std::vector<int> source_weights, destination_weights;  ///< as long as sources and destinations, or empty
};

struct Edge {
  int source = 0, destination = 0, weight = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// The edges to send to each process: process r gets messages [begins[r], begins[r + 1]), one for each end of
/// an edge at r, in the order of `edges`.
struct Mail {
  std::vector<Edge> messages;
  std::vector<std::int64_t> begins;
};
[[nodiscard]] Mail address(std::span<const Edge> edges, int ranks);

/// The edges of process `rank` after the mail of all processes has arrived, sender by sender. Several edges
/// between two processes have the same order at both.
[[nodiscard]] Adjacency collect(std::span<const Edge> arrived, int rank, bool weighted);

}  // namespace starling::mpi::topology
