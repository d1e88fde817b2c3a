// SPDX-License-Identifier: BSD-3-Clause
// bench_scale: start-up of jobs of any size in virtual time, by the shipped bootstrap components. Layer:
// bench. See docs/design/scale.md.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/scale/world.hpp"
#include "bench/words.hpp"
#include "core/plugin/prefix.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "params/core_params.hpp"

namespace starling::scale {
namespace {

using bench::split;

constexpr char kUsage[] =
    "Usage: bench_scale [option value]...\n"
    "  --ranks 64,1024       ranks of the job\n"
    "  --per-node 8,64       ranks on each node\n"
    "  --mode M,...          flat, hierarchical, async (async_modex over hierarchical)\n"
    "  --server S            starling: answers before a fence; pmi12: fences of groups; pmi11: names only\n"
    "  --group-mode M        as parameter bootstrap_group_mode\n"
    "  --transport NAME      name of the network in the cards\n"
    "  --address-bytes N     length of its addresses\n"
    "  --message-bytes N     longest control message between nodes; longer blocks go in pieces\n"
    "  --skew-us N           processes start within so much time\n"
    "  --costs FILE          costs of the steps\n"
    "  --compute             also show the processor time of the busiest process, measured here\n"
    "  --lines               lines `mode ranks per_node figure value` instead of a table\n";

struct Options {
  std::vector<std::uint32_t> ranks{64, 1024, 16384}, per_node{8, 64};
  std::vector<std::string> modes{"flat", "hierarchical", "async"};
  std::string server = "starling", group_mode = "auto", costs;
  bool lines = false;
  Setup setup;
};

[[noreturn]] void stop(const std::string& text) {
  std::fprintf(stderr, "bench_scale: %s\n", text.c_str());
  std::exit(1);
}

std::uint32_t number(const std::string& text) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value > 0xffffffffu) stop("'" + text + "' is not a number");
  return static_cast<std::uint32_t>(value);
}

std::vector<std::uint32_t> numbers(const std::string& text) {
  std::vector<std::uint32_t> all;
  for (const std::string& word : split(text)) {
    all.push_back(number(word));
    if (all.back() == 0) stop("0 is too few");
  }
  return all;
}

pmi::Capabilities server(const std::string& name) {
  pmi::Capabilities can;
  can.name_service = true;
  if (name == "starling" || name == "pmi12") can.group_fence = can.tagged_barrier = true;
  if (name == "starling") can.get_without_fence = true;
  if (name == "starling") can.server = "simulated mpiexec of Starling";
  if (name == "pmi12") can.server = "simulated PMI 1.2";
  if (name == "pmi11") can.server = "simulated PMI 1.1";
  if (!can.server.empty()) return can;
  stop("unknown server '" + name + "'");
}

Options parse(int argc, char** argv) {
  Options options;
  options.costs = std::string(STARLING_SCALE_COSTS);
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (name == "--lines") options.lines = true;
    if (name == "--compute") options.setup.compute = true;
    if (name == "--lines" || name == "--compute") continue;
    if (++i == argc) stop(std::string(name) + " needs a value\n" + kUsage);
    const std::string value = argv[i];
    if (name == "--ranks")
      options.ranks = numbers(value);
    else if (name == "--per-node")
      options.per_node = numbers(value);
    else if (name == "--mode")
      options.modes = split(value);
    else if (name == "--server")
      options.server = value;
    else if (name == "--group-mode")
      options.group_mode = value;
    else if (name == "--transport")
      options.setup.transport = value;
    else if (name == "--address-bytes")
      options.setup.address_bytes = number(value);
    else if (name == "--message-bytes")
      options.setup.message_bytes = std::max<std::size_t>(number(value), bootstrap::kNodeMessageBytes);
    else if (name == "--skew-us")
      options.setup.skew_ns = std::uint64_t{number(value)} * 1000;
    else if (name == "--costs")
      options.costs = value;
    else
      stop("unknown option " + std::string(name) + "\n" + kUsage);
  }
  options.setup.pmi = server(options.server);
  // What Starling's own client may put in one piece; other servers have the usual kilobyte.
  options.setup.value_max = options.server == "starling" ? 96 * 1024 : 1024;
  auto costs = Costs::read(options.costs);
  if (!costs) stop(costs.error().text());
  options.setup.costs = *costs;
  return options;
}

/// The plugins of this build, told by parameters which bootstrap to take.
struct Shipped {
  params::Registry params;
  plugin::Index plugins;
};

Result<void> load(Shipped& shipped, const std::string& component, const Options& options) {
  ::setenv("STARLING_MCA_bootstrap", component.c_str(), 1);
  ::setenv("STARLING_MCA_bootstrap_group_mode", options.group_mode.c_str(), 1);
  ::setenv("STARLING_MCA_bootstrap_timeout", "0", 1);  // there is no clock that it could be held against
  const std::string prefix = plugin::installation().prefix;
  if (auto done = shipped.params.load(params::Places::of_this_process(prefix)); !done) return done;
  if (auto done = params::add_core(shipped.params); !done) return done;
  if (auto done = shipped.params.add("bootstrap", bootstrap::kParams); !done) return done;
  auto index = plugin::Index::scan(shipped.params, prefix);
  if (!index) return fail(std::move(index).error());
  shipped.plugins = std::move(*index);
  return {};
}

/// Memory that can still be had without swapping.
double available_gib() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  double kib = 0;
  while (file >> name) {
    if (name == "MemAvailable:" && file >> kib) return kib / (1 << 20);
  }
  return 0;
}

struct Figure {
  const char* name;
  double value;
};

std::vector<Figure> figures(const Setup& setup, const Outcome& out) {
  const auto n = static_cast<double>(setup.ranks);
  const auto d = [](std::uint64_t value) { return static_cast<double>(value); };
  const auto operations = out.pmi.puts + out.pmi.gets + out.pmi.fences + out.pmi.other;
  return {{"puts", d(out.pmi.puts)},
          {"gets", d(out.pmi.gets)},
          {"early_gets", d(out.pmi.early_gets)},
          {"fences", d(out.pmi.fences)},
          {"names", d(out.pmi.other)},
          {"operations_mean", d(operations) / n},
          {"operations_most", d(out.operations_most)},
          {"node_messages", d(out.sent.node_messages)},
          {"node_bytes", d(out.sent.node_bytes)},
          {"remote_messages", d(out.sent.remote_messages)},
          {"remote_bytes", d(out.sent.remote_bytes)},
          {"remote_messages_most", d(out.sent_most.remote_messages)},
          {"link_bytes_most", d(out.link_bytes_most)},
          {"server_requests", d(out.server_requests)},
          {"server_bytes", d(out.server_bytes)},
          {"server_busy_ms", d(out.server_busy_ns) * 1e-6},
          {"table_bytes_node", d(out.table_bytes_most)},
          {"time_ms", d(out.end_ns) * 1e-6},
          {"compute_most_ms", out.compute_most_s * 1e3}};
}

double value(const std::vector<Figure>& all, const char* name) {
  for (const Figure& figure : all) {
    if (std::strcmp(figure.name, name) == 0) return figure.value;
  }
  stop(std::string("no figure ") + name);
}

void print_head(bool compute) {
  std::printf(
      "| mode | ranks | per node | PMI requests per rank (most) | at the server | server busy [ms] "
      "| messages per rank, node | between nodes, all | most by one | busiest link [MB] "
      "| table on a node [MB] | time [ms] |%s\n",
      compute ? " compute [ms] |" : "");
  std::printf("|%s\n", compute ? "---|---|---|---|---|---|---|---|---|---|---|---|---|"
                               : "---|---|---|---|---|---|---|---|---|---|---|---|");
}

void print_row(const std::string& mode, const Setup& setup, const std::vector<Figure>& all) {
  const auto v = [&all](const char* name) { return value(all, name); };
  std::printf("| %s | %u | %u | %.2f (%.0f) | %.0f | %.1f | %.2f | %.0f | %.0f | %.2f | %.2f | %.1f |",
              mode.c_str(), setup.ranks, setup.per_node, v("operations_mean"), v("operations_most"),
              v("server_requests"), v("server_busy_ms"), v("node_messages") / setup.ranks,
              v("remote_messages"), v("remote_messages_most"), v("link_bytes_most") * 1e-6,
              v("table_bytes_node") * 1e-6, v("time_ms"));
  if (setup.compute) std::printf(" %.1f |", v("compute_most_ms"));
  std::printf("\n");
}

void run_one(const std::string& mode, const Options& options, const Setup& setup, Shipped& shipped) {
  // Stack and component of a process: 8.5 KiB with 131072 of them.
  constexpr double kGibPerRank = 10.0 / (1 << 20);
  const double needed = kGibPerRank * setup.ranks;
  if (needed > 0.8 * available_gib()) {
    std::fprintf(stderr, "bench_scale: %s, %u ranks: left out, they need %.1f GiB and %.1f are free\n",
                 mode.c_str(), setup.ranks, needed, available_gib());
    return;
  }
  World world(setup, shipped.plugins, shipped.params);
  auto outcome = world.run();
  if (!outcome) stop(mode + ", " + std::to_string(setup.ranks) + " ranks: " + outcome.error().text());
  const auto all = figures(setup, *outcome);
  if (!options.lines) print_row(mode, setup, all);
  for (const Figure& figure : all) {
    if (options.lines)
      std::printf("%s %u %u %s %.17g\n", mode.c_str(), setup.ranks, setup.per_node, figure.name,
                  figure.value);
  }
  std::fflush(stdout);
}

int main_of(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (!options.lines) print_head(options.setup.compute);
  for (const std::string& mode : options.modes) {
    Setup setup = options.setup;
    setup.roots_tree = mode != "flat";
    setup.async_modex = mode == "async";
    if (mode != "flat" && mode != "hierarchical" && mode != "async") stop("unknown mode '" + mode + "'");
    Shipped shipped;
    if (auto loaded = load(shipped, setup.roots_tree ? "hierarchical" : "flat", options); !loaded)
      stop(loaded.error().text());
    setup.group_mode = shipped.params.choice<bootstrap::GroupMode>(bootstrap::kGroupMode);
    for (const std::uint32_t per_node : options.per_node) {
      setup.per_node = per_node;
      for (const std::uint32_t ranks : options.ranks) {
        setup.ranks = ranks;
        run_one(mode, options, setup, shipped);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace starling::scale

int main(int argc, char** argv) { return starling::scale::main_of(argc, argv); }
