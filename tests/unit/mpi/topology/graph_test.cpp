// SPDX-License-Identifier: BSD-3-Clause
// Graphs known as a whole, and edges on their way to their ends.
#include "mpi/topology/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "mpi/topology/topology.hpp"

namespace starling::mpi::topology {
namespace {

using Ints = std::vector<int>;
using Edges = std::vector<Edge>;

Ints list(std::span<const int> span) { return {span.begin(), span.end()}; }

TEST(Graph, neighbors_of_each_node_follow_each_other) {
  const Graph graph({2, 2, 3}, {1, 1, 0});
  EXPECT_EQ(graph.nodes(), 3);
  EXPECT_EQ(graph.edges(), 3);
  EXPECT_EQ(list(graph.neighbors(0)), (Ints{1, 1}));
  EXPECT_EQ(list(graph.neighbors(1)), Ints{});
  EXPECT_EQ(list(graph.neighbors(2)), Ints{0});
}

TEST(Mail, each_end_is_told_once) {
  const Edges edges{{0, 2, 5}, {1, 1, 6}, {2, 0, 7}};
  const Mail mail = address(edges, 3);
  EXPECT_EQ(mail.begins, (std::vector<std::int64_t>{0, 2, 3, 5}));
  EXPECT_EQ(mail.messages, (Edges{{0, 2, 5}, {2, 0, 7}, {1, 1, 6}, {0, 2, 5}, {2, 0, 7}}));
}

TEST(Mail, nothing_to_tell) {
  const Mail mail = address({}, 2);
  EXPECT_TRUE(mail.messages.empty());
  EXPECT_EQ(mail.begins, (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(Collect, an_edge_to_itself_has_both_ends_here) {
  const Adjacency got = collect(Edges{{4, 4, 9}}, 4, true);
  EXPECT_EQ(got.sources, Ints{4});
  EXPECT_EQ(got.destinations, Ints{4});
  EXPECT_EQ(got.source_weights, Ints{9});
  EXPECT_EQ(got.destination_weights, Ints{9});
}

TEST(Collect, without_weights_there_are_none) {
  const Adjacency got = collect(Edges{{0, 1, 9}}, 1, false);
  EXPECT_EQ(got.sources, Ints{0});
  EXPECT_TRUE(got.source_weights.empty());
}

/// What `rank` gets when every process mails its edges.
Adjacency delivered(const std::vector<Edges>& told, int rank) {
  Edges arrived;
  for (const Edges& edges : told) {
    const Mail mail = address(edges, static_cast<int>(told.size()));
    const auto at = static_cast<std::size_t>(rank);
    arrived.insert(arrived.end(), mail.messages.begin() + mail.begins[at],
                   mail.messages.begin() + mail.begins[at + 1]);
  }
  return collect(arrived, rank, true);
}

TEST(Collect, edges_between_two_processes_have_one_order_at_both) {
  std::mt19937 random(3);
  constexpr int kRanks = 6;
  std::vector<Edges> told(kRanks);
  int weight = 0;
  for (Edges& edges : told) {
    for (int i = 0; i < 40; ++i) {
      const int source = static_cast<int>(random() % kRanks),
                destination = static_cast<int>(random() % kRanks);
      edges.push_back({source, destination, weight++});
    }
  }
  std::size_t seen = 0;
  for (int source = 0; source < kRanks; ++source) {
    const Adjacency from = delivered(told, source);
    for (int destination = 0; destination < kRanks; ++destination) {
      const Adjacency to = delivered(told, destination);
      Ints sent, received;
      for (std::size_t i = 0; i < from.destinations.size(); ++i) {
        if (from.destinations[i] == destination) sent.push_back(from.destination_weights[i]);
      }
      for (std::size_t i = 0; i < to.sources.size(); ++i) {
        if (to.sources[i] == source) received.push_back(to.source_weights[i]);
      }
      EXPECT_EQ(sent, received);
      seen += sent.size();
    }
  }
  EXPECT_EQ(seen, static_cast<std::size_t>(weight));
}

TEST(Topology, a_grid_has_two_neighbors_for_each_dimension) {
  const mpi::Topology topology(Grid({2, 3}, {false, true}), 0);
  const coll::Neighbors& neighbors = topology.neighbors();
  EXPECT_TRUE(neighbors.grid);
  EXPECT_EQ(list(neighbors.sources), (Ints{coll::kNobody, 3, 2, 1}));
  EXPECT_EQ(list(neighbors.destinations), list(neighbors.sources));
  EXPECT_NE(topology.grid(), nullptr);
  EXPECT_EQ(topology.graph(), nullptr);
  EXPECT_EQ(topology.adjacency(), nullptr);
}

TEST(Topology, neighbors_of_a_graph_lie_in_it) {
  const mpi::Topology whole(Graph({1, 3}, {1, 0, 0}), 1);
  EXPECT_EQ(list(whole.neighbors().sources), (Ints{0, 0}));
  EXPECT_FALSE(whole.neighbors().grid);
  Adjacency edges;
  edges.sources = {3, 1};
  edges.destinations = {2};
  const mpi::Topology own(std::move(edges));
  EXPECT_EQ(list(own.neighbors().sources), (Ints{3, 1}));
  EXPECT_EQ(list(own.neighbors().destinations), Ints{2});
}

}  // namespace
}  // namespace starling::mpi::topology
