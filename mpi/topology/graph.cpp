// SPDX-License-Identifier: BSD-3-Clause
/// @file  Sorting edges by the processes that have to know them. docs/design/topology.md
///
/// An edge from a process to itself is sent to it once; collect() makes both ends of it.

#include "mpi/topology/graph.hpp"

namespace starling::mpi::topology {

Mail address(std::span<const Edge> edges, int ranks) {
  const auto at = [](int rank) { return static_cast<std::size_t>(rank); };
  Mail mail;
  mail.begins.assign(at(ranks) + 1, 0);
  for (const Edge& edge : edges) {
    ++mail.begins[at(edge.source) + 1];
    if (edge.source != edge.destination) ++mail.begins[at(edge.destination) + 1];
  }
  for (std::size_t rank = 0; rank < at(ranks); ++rank) mail.begins[rank + 1] += mail.begins[rank];
  std::vector<std::int64_t> next(mail.begins.begin(), mail.begins.end() - 1);
  mail.messages.resize(static_cast<std::size_t>(mail.begins.back()));
  const auto put = [&](int rank, const Edge& edge) {
    mail.messages[static_cast<std::size_t>(next[at(rank)]++)] = edge;
  };
  for (const Edge& edge : edges) {
    put(edge.source, edge);
    if (edge.source != edge.destination) put(edge.destination, edge);
  }
  return mail;
}

Adjacency collect(std::span<const Edge> arrived, int rank, bool weighted) {
  Adjacency result;
  result.weighted = weighted;
  for (const Edge& edge : arrived) {
    if (edge.source == rank) {
      result.destinations.push_back(edge.destination);
      if (weighted) result.destination_weights.push_back(edge.weight);
    }
    if (edge.destination == rank) {
      result.sources.push_back(edge.source);
      if (weighted) result.source_weights.push_back(edge.weight);
    }
  }
  return result;
}

}  // namespace starling::mpi::topology
