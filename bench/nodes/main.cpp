// SPDX-License-Identifier: BSD-3-Clause
// bench_nodes: collectives of many nodes in virtual time, by the shipped schedules, as nodes and as if
// there were none. Layer: bench. See docs/design/collectives.md.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "bench/nodes/machine.hpp"
#include "bench/words.hpp"
#include "mpi/coll/select.hpp"

namespace starling::nodes {
namespace {

using bench::split;

using namespace mpi::coll;

constexpr char kUsage[] =
    "Usage: bench_nodes [option value]...\n"
    "  --nodes 64,256,1024,4096   numbers of nodes\n"
    "  --per-node 64              ranks on each\n"
    "  --bytes 8,65536            vector, message or block\n"
    "  --only barrier,bcast,...   of barrier bcast reduce allreduce gather scatter allgather alltoall scan\n"
    "                             reduce_scatter (without this: the first four)\n"
    "  --between L,o,g,GB/s       between nodes: microseconds (default 1.2,0.4,0.05,12.5)\n"
    "  --within L,o,g,GB/s        inside a node (default 0.3,0.15,0,8)\n"
    "  --copy GB/s, --reduce GB/s speed of one core (default 8, 4)\n"
    "  --most-ranks N             collectives whose schedules grow with the ranks: not above (default "
    "1024)\n";

struct Options {
  std::vector<int> nodes{64, 256, 1024, 4096};
  int per_node = 64, most_ranks = 1024;
  std::vector<std::uint64_t> bytes{8, 65536};
  std::vector<std::string> only{"barrier", "bcast", "reduce", "allreduce"};
  Costs costs;
};

[[noreturn]] void stop(const std::string& text) {
  std::fprintf(stderr, "bench_nodes: %s\n%s", text.c_str(), kUsage);
  std::exit(1);
}

double number(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0' || value < 0) stop("\"" + word + "\" is no number");
  return value;
}

Link link(const std::string& text) {
  const std::vector<std::string> words = split(text);
  if (words.size() != 4 || number(words[3]) == 0) stop("expected L,o,g,GB/s");
  return {number(words[0]), number(words[1]), number(words[2]), 1 / (1000 * number(words[3]))};
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) stop(name == "--help" ? "" : name + " has no value");
    const std::string value = argv[i + 1];
    if (name == "--nodes" || name == "--bytes") {
      if (name == "--nodes") options.nodes.clear();
      if (name == "--bytes") options.bytes.clear();
      for (const std::string& word : split(value)) {
        if (name == "--nodes") options.nodes.push_back(static_cast<int>(number(word)));
        if (name == "--bytes") options.bytes.push_back(static_cast<std::uint64_t>(number(word)));
      }
    } else if (name == "--per-node") {
      options.per_node = static_cast<int>(number(value));
    } else if (name == "--most-ranks") {
      options.most_ranks = static_cast<int>(number(value));
    } else if (name == "--only") {
      options.only = split(value);
    } else if (name == "--between") {
      options.costs.between = link(value);
    } else if (name == "--within") {
      options.costs.within = link(value);
    } else if (name == "--copy") {
      options.costs.copy_per_byte = 1 / (1000 * number(value));
    } else if (name == "--reduce") {
      options.costs.reduce_per_byte = 1 / (1000 * number(value));
    } else {
      stop("unknown option " + name);
    }
  }
  return options;
}

const Type kByte{nullptr, 1, 1, 0, 1, true, nullptr};
const Type kDouble{nullptr, 8, 8, 0, 8, true, nullptr};
// Nothing is read or written: only that they differ counts.
void* const kIn = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
void* const kOut = reinterpret_cast<void*>(std::uintptr_t{1} << 44);

Reduce reduction(std::uint64_t bytes) {
  Reduce asked;
  asked.send = kIn;
  asked.receive = kOut;
  asked.count = (bytes + 7) / 8;
  asked.type = kDouble;
  return asked;
}
Gather gathering(std::uint64_t bytes) {
  Gather asked;
  asked.send = kIn;
  asked.count = bytes;
  asked.type = kByte;
  asked.receive = Blocks(kOut, bytes, kByte);
  return asked;
}
Scatter scattering(std::uint64_t bytes) {
  Scatter asked;
  asked.send = Blocks(kIn, bytes, kByte);
  asked.receive = kOut;
  asked.count = bytes;
  asked.type = kByte;
  return asked;
}
ReduceScatter block_reduction(std::uint64_t bytes) {
  ReduceScatter asked;
  asked.send = kIn;
  asked.receive = kOut;
  asked.count = (bytes + 7) / 8;
  asked.type = kDouble;
  return asked;
}

using Build = std::function<void(Schedule&, const Team&, std::uint64_t)>;
struct Call {
  Build build;
  bool grows;  ///< its schedule has steps or memory for each rank
};
const std::map<std::string, Call>& calls() {
  static const std::map<std::string, Call> all{
      {"barrier", {[](Schedule& s, const Team& t, std::uint64_t) { barrier(s, t); }, false}},
      {"bcast",
       {[](Schedule& s, const Team& t, std::uint64_t b) {
          bcast(s, t, {}, Bcast{kOut, b, kByte, 0});
        },
        false}},
      {"reduce",
       {[](Schedule& s, const Team& t, std::uint64_t b) { reduce(s, t, {}, reduction(b)); }, false}},
      {"allreduce",
       {[](Schedule& s, const Team& t, std::uint64_t b) { allreduce(s, t, {}, reduction(b)); }, false}},
      {"scan", {[](Schedule& s, const Team& t, std::uint64_t b) { scan(s, t, reduction(b)); }, false}},
      {"gather", {[](Schedule& s, const Team& t, std::uint64_t b) { gather(s, t, {}, gathering(b)); }, true}},
      {"scatter",
       {[](Schedule& s, const Team& t, std::uint64_t b) { scatter(s, t, {}, scattering(b)); }, true}},
      {"allgather",
       {[](Schedule& s, const Team& t, std::uint64_t b) { allgather(s, t, {}, gathering(b)); }, true}},
      {"reduce_scatter",
       {[](Schedule& s, const Team& t, std::uint64_t b) { reduce_scatter(s, t, {}, block_reduction(b)); },
        true}},
      {"alltoall",
       {[](Schedule& s, const Team& t, std::uint64_t b) {
          Alltoall asked;
          asked.send = Blocks(kIn, b, kByte);
          asked.receive = Blocks(kOut, b, kByte);
          alltoall(s, t, {}, asked);
        },
        true}}};
  return all;
}

struct Outcome {
  double us = 0;
  std::uint64_t messages = 0, bytes = 0;
};

Outcome outcome(const Options& options, const Hierarchy& hierarchy, const Call& call, std::uint64_t bytes,
                bool by_nodes) {
  const int ranks = hierarchy.nodes() * options.per_node;
  std::vector<std::unique_ptr<Schedule>> schedules;
  for (int rank = 0; rank < ranks; ++rank) {
    schedules.push_back(std::make_unique<Schedule>());
    call.build(*schedules.back(), Team{rank, ranks, 0, false, by_nodes ? &hierarchy : nullptr}, bytes);
    if (!schedules.back()->ok()) stop("no memory for the schedules");
  }
  Machine machine(options.costs, hierarchy, schedules);
  const double us = machine.run();
  if (us < 0) stop("a schedule does not end");
  return {us, machine.messages_between(), machine.bytes_between()};
}

void run(const Options& options) {
  std::printf(
      "| | nodes | ranks | by nodes [us] | flat [us] | by nodes / flat | messages between nodes | flat |\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  for (const std::string& name : options.only) {
    const auto call = calls().find(name);
    if (call == calls().end()) stop("no collective is called \"" + name + "\"");
    for (const std::uint64_t bytes : options.bytes) {
      for (const int nodes : options.nodes) {
        const int ranks = nodes * options.per_node;
        if (call->second.grows && ranks > options.most_ranks) continue;
        std::vector<std::uint32_t> node_of;
        for (int rank = 0; rank < ranks; ++rank)
          node_of.push_back(static_cast<std::uint32_t>(rank / options.per_node));
        const Hierarchy hierarchy(node_of);
        const Outcome over = outcome(options, hierarchy, call->second, bytes, true);
        const Outcome flat = outcome(options, hierarchy, call->second, bytes, false);
        std::printf("| %s%s | %d | %d | %.1f | %.1f | %.2f | %llu | %llu |\n", name.c_str(),
                    name == "barrier" ? "" : (" " + std::to_string(bytes) + " B").c_str(), nodes, ranks,
                    over.us, flat.us, over.us / flat.us, static_cast<unsigned long long>(over.messages),
                    static_cast<unsigned long long>(flat.messages));
        std::fflush(stdout);
      }
      if (name == "barrier") break;
    }
  }
}

}  // namespace
}  // namespace starling::nodes

int main(int argc, char** argv) {
  starling::nodes::run(starling::nodes::parse(argc, argv));
  return 0;
}
