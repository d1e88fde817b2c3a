// SPDX-License-Identifier: BSD-3-Clause
// tools/mpiexec: -bind-to, -map-by and -rank-by on machines that are made up. Layer: tests.
//
// What is expected of pack:2 core:4 pu:2 is what Hydra (HYDRA_TOPO_DEBUG) and Open MPI (--report-bindings) do
// where hwloc is told to see that machine (HWLOC_SYNTHETIC), apart from ranks that do not fit.

#include <gtest/gtest.h>

#include "tools/mpiexec/options.hpp"
#include "tools/mpiexec/placement.hpp"

namespace starling::mpiexec {
namespace {

struct Shape {
  int sockets = 2;
  int numas = 1;  ///< per socket
  int cores = 4;  ///< per NUMA domain
  int threads = 2;
  bool siblings_last =
      false;  ///< numbered as most systems do: first one thread of each core, then the others
};

Machine made_up(const Shape& shape) {
  Machine machine;
  const int all_cores = shape.sockets * shape.numas * shape.cores;
  for (int core = 0; core < all_cores; ++core) {
    for (int thread = 0; thread < shape.threads; ++thread) {
      const int number = shape.siblings_last ? thread * all_cores + core : core * shape.threads + thread;
      Processor processor{number, {}};
      const auto set = [&](Unit unit, int object) {
        processor.object[static_cast<std::size_t>(unit)] = object;
      };
      set(Unit::processor, number);
      set(Unit::hwthread, number);
      for (const Unit unit : {Unit::core, Unit::l1cache, Unit::l2cache}) set(unit, core);
      set(Unit::l3cache, core / 2);  // two cores share one
      set(Unit::numa, core / shape.cores);
      set(Unit::socket, core / shape.cores / shape.numas);
      machine.push_back(processor);
    }
  }
  put_in_order(machine);
  return machine;
}

Options options_of(std::vector<std::string> words) {
  words.emplace_back("a");
  auto options = parse_options(words);
  EXPECT_TRUE(options) << options.error().text();
  return options ? std::move(*options) : Options{};
}

using Sets = std::vector<std::string>;

/// The processors of each rank: "0-3", "0,2".
Sets bound(const std::vector<std::string>& words, std::size_t ranks, const Shape& shape = {}) {
  const Options options = options_of(words);
  Sets sets;
  for (const cpu_set_t& set : places(options.place.bind, options.place.map, made_up(shape), ranks)) {
    std::string& text = sets.emplace_back();
    for (int first = 0; first < 64; ++first) {
      if (!CPU_ISSET(first, &set)) continue;
      int last = first;
      while (CPU_ISSET(last + 1, &set)) ++last;
      text += (text.empty() ? "" : ",") + std::to_string(first);
      if (last > first) text += "-" + std::to_string(last);
      first = last;
    }
  }
  return sets;
}

TEST(MpiexecBinding, so_many_objects_for_each_rank) {
  EXPECT_EQ(bound({"-bind-to", "core:2"}, 4), (Sets{"0-3", "4-7", "8-11", "12-15"}));
  EXPECT_EQ(bound({"-bind-to", "core:3"}, 2), (Sets{"0-5", "6-11"}));
  EXPECT_EQ(bound({"-bind-to", "hwthread:2"}, 3), (Sets{"0-1", "2-3", "4-5"}));
  EXPECT_EQ(bound({"-bind-to", "core:2"}, 2, {.siblings_last = true}), (Sets{"0-1,8-9", "2-3,10-11"}));
  EXPECT_EQ(bound({"-bind-to", "l3cache"}, 3), (Sets{"0-3", "4-7", "8-11"}));
  EXPECT_EQ(bound({"-bind-to", "machine"}, 2), (Sets{"0-15", "0-15"}));
  EXPECT_EQ(bound({"-bind-to", "numa"}, 4, {.numas = 2, .cores = 2}), (Sets{"0-3", "4-7", "8-11", "12-15"}));
  EXPECT_EQ(bound({"-bind-to", "rr"}, 3, {.siblings_last = true}), (Sets{"0", "1", "2"}));
  EXPECT_EQ(bound({"-bind-to", "none"}, 3), Sets{});
}

TEST(MpiexecBinding, larger_objects_in_turn) {
  EXPECT_EQ(bound({"-bind-to", "core", "-map-by", "socket"}, 5), (Sets{"0-1", "8-9", "2-3", "10-11", "4-5"}));
  EXPECT_EQ(bound({"-bind-to", "core:2", "-map-by", "socket"}, 4), (Sets{"0-3", "8-11", "4-7", "12-15"}));
  EXPECT_EQ(bound({"-bind-to", "hwthread", "-map-by", "core"}, 6), (Sets{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(bound({"-bind-to", "hwthread:2", "-map-by", "core:2"}, 6),
            (Sets{"0-1", "4-5", "8-9", "12-13", "2-3", "6-7"}));
  EXPECT_EQ(bound({"-bind-to", "core", "-map-by", "socket:2"}, 3), (Sets{"0-1", "2-3", "4-5"}));
  EXPECT_EQ(bound({"-bind-to", "socket", "-map-by", "core"}, 4), (Sets{"0-7", "0-7", "0-7", "0-7"}));
}

TEST(MpiexecBinding, cores_for_each_rank_as_open_mpi_says_it) {
  const Sets by_socket{"0-3", "8-11", "4-7", "12-15"};
  EXPECT_EQ(bound({"--map-by", "socket:PE=2", "--bind-to", "core"}, 4), by_socket);
  EXPECT_EQ(bound({"--map-by", "socket:pe=2,oversubscribe"}, 4), by_socket);
  EXPECT_EQ(bound({"--map-by", "slot:PE=2"}, 3), (Sets{"0-3", "4-7", "8-11"}));
  EXPECT_EQ(bound({"--map-by", "slot:PE=2:HWTCPUS"}, 3), (Sets{"0-1", "2-3", "4-5"}));
  EXPECT_EQ(bound({"--map-by", "socket:PE=2", "--bind-to", "none"}, 2), Sets{});
  EXPECT_EQ(bound({"--map-by", "ppr:2:socket", "--bind-to", "core"}, 4),
            (Sets{"0-1", "2-3", "8-9", "10-11"}));
  EXPECT_EQ(bound({"--map-by", "ppr:1:core", "--bind-to", "socket"}, 2), (Sets{"0-7", "0-7"}));
  EXPECT_EQ(bound({"--map-by", "ppr:1:socket:PE=4"}, 2), (Sets{"0-7", "8-15"}));
}

TEST(MpiexecBinding, numbers_in_another_order) {
  EXPECT_EQ(bound({"--map-by", "socket", "--rank-by", "core", "--bind-to", "core"}, 4),
            (Sets{"0-1", "2-3", "8-9", "10-11"}));
  EXPECT_EQ(bound({"--map-by", "ppr:2:socket", "--rank-by", "socket", "--bind-to", "core"}, 4),
            (Sets{"0-1", "8-9", "2-3", "10-11"}));
}

TEST(MpiexecBinding, nobody_shares_what_he_was_to_have_alone) {
  EXPECT_EQ(bound({"-bind-to", "core:2"}, 5), Sets{});
  EXPECT_EQ(bound({"-bind-to", "core:2:overload-allowed"}, 5), (Sets{"0-3", "4-7", "8-11", "12-15", "0-3"}));
  EXPECT_EQ(bound({"-bind-to", "core"}, 9), Sets{});
  EXPECT_EQ(bound({"-bind-to", "core:9"}, 1), Sets{}) << "there are eight";
  EXPECT_EQ(bound({"-bind-to", "socket"}, 4), (Sets{"0-7", "8-15", "0-7", "8-15"})) << "with a core for each";
  EXPECT_EQ(bound({"-bind-to", "socket"}, 9), Sets{}) << "without";
  EXPECT_EQ(bound({"--map-by", "ppr:5:socket", "--bind-to", "core"}, 8), Sets{}) << "four cores each";
}

TEST(MpiexecBinding, ppr_gives_the_number_of_ranks) {
  Options options = options_of({"--map-by", "ppr:2:socket"});
  ASSERT_TRUE(resolve_per_object(options.place, made_up({})));
  EXPECT_EQ(lay_out(options, {})->size, 4u);
  options = options_of({"--map-by", "ppr:3:core:PE=1"});
  ASSERT_TRUE(resolve_per_object(options.place, made_up({})));
  EXPECT_EQ(options.place.per_node, 24u);
  EXPECT_FALSE(resolve_per_object(options.place, {})) << "nothing is known of the machine";
}

TEST(MpiexecBinding, what_changes_nothing_is_taken) {
  for (const char* word :
       {":OVERSUBSCRIBE", "slot:NOOVERSUBSCRIBE", "node:oversubscribe", "socket:SPAN", ":noinherit"})
    EXPECT_EQ(options_of({"--map-by", word}).place.bind, BindTo{}) << word;
  EXPECT_EQ(bound({"--bind-to", "core:if-supported"}, 1), (Sets{"0-1"}));
  EXPECT_TRUE(options_of({"--map-by", "node:OVERSUBSCRIBE"}).place.nodes_in_turn);
  EXPECT_TRUE(options_of({"--map-by", "core", "--rank-by", "node"}).place.nodes_in_turn);
}

TEST(MpiexecBinding, nonsense_is_refused_by_name) {
  const std::pair<std::vector<std::string>, const char*> words[] = {
      {{"-bind-to", "core:x"}, "option -bind-to: \"x\" in \"core:x\" is none of N"},
      {{"-bind-to", "core:0"}, "\"0\" in \"core:0\""},
      {{"-bind-to", "core:2:2"}, "\"2\" in \"core:2:2\""},
      {{"-bind-to", "core:"}, "\"\" in \"core:\""},
      {{"-bind-to", "none:2"}, "\"2\" in \"none:2\""},
      {{"-bind-to", "user:0+2,1"}, "\"user\" in \"user:0+2,1\" is none of none, core"},
      {{"--bind-to", "moon"}, "option --bind-to: \"moon\" is none of none, core"},
      {{"--map-by", "ppr:2:node:foo"}, "option --map-by: \"foo\" in \"ppr:2:node:foo\" is none of PE=N"},
      {{"--map-by", "ppr:x:node"}, "ppr:N:node"},
      {{"--map-by", "ppr:2"}, "ppr:N:node"},
      {{"--map-by", "ppr:2:moon"}, "\"moon\" in \"ppr:2:moon\" is none of node, hwthread"},
      {{"--map-by", "socket:PE=x"}, "\"pe=x\" in \"socket:PE=x\""},
      {{"--map-by", "slot:2"}, "\"2\" in \"slot:2\""},
      {{"--map-by", "moon"}, "\"moon\" is none of slot, node, ppr:N:node"},
      {{"--map-by", ""}, "\"\" is none of slot"},
      {{"--rank-by", "core:2"}, "\"core:2\" is none of slot, node"},
      {{"--map-by", "slot:PE=2", "--bind-to", "socket"}, "it does not go with -bind-to socket"},
      {{"--map-by", "slot:PE=2", "--bind-to", "core:2"}, "it does not go with -bind-to core:2"}};
  for (auto [given, message] : words) {
    given.emplace_back("a");
    const auto options = parse_options(given);
    ASSERT_FALSE(options) << given[1];
    EXPECT_NE(options.error().detail.find(message), std::string::npos) << options.error().detail;
  }
}

}  // namespace
}  // namespace starling::mpiexec
