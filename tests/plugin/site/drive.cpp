// SPDX-License-Identifier: BSD-3-Clause
// One process of a job: put, fence, get of every other's value, through whatever pmi the parameters select.
// It is built against the installed package, like the plugin.

#include <unistd.h>

#include <cstdio>
#include <string>

#include "core/plugin/prefix.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "frameworks/select.hpp"

namespace {

using namespace starling;

int complain(const std::string& text) {
  std::fprintf(stderr, "drive: %s\n", text.c_str());
  return 1;
}

std::string value_of(std::uint32_t rank, int round) {
  // A line break, a NUL and a percent sign: values are bytes of any content.
  return std::string("value %\n") + '\0' + std::to_string(rank) + "/" + std::to_string(round);
}

int exchange(pmi::Component& pmi, int round) {
  const pmi::Identity& identity = pmi.identity();
  const std::string mine = value_of(identity.rank, round);
  const std::string key = "round/" + std::to_string(round);
  if (auto put = pmi.put(key, std::as_bytes(std::span(mine.data(), mine.size()))); !put)
    return complain(put.error().text());
  if (auto fence = pmi.fence(Deadline::after_seconds(60)); !fence) return complain(fence.error().text());
  for (std::uint32_t rank = 0; rank < identity.size; ++rank) {
    auto got = pmi.get(rank, key);
    if (!got) return complain(got.error().text());
    const std::string text(reinterpret_cast<const char*>(got->value.data()), got->value.size());
    if (got->found != pmi::Found::value || text != value_of(rank, round))
      return complain("wrong value of rank " + std::to_string(rank));
  }
  auto none = pmi.get(0, "nobody/put/this");
  if (!none || none->found != pmi::Found::none) return complain("a value that nobody put was found");
  return 0;
}

int group_fences(pmi::Component& pmi) {
  const pmi::Identity& identity = pmi.identity();
  std::vector<std::uint32_t> group;
  for (std::uint32_t rank = identity.rank % 2; rank < identity.size; rank += 2) group.push_back(rank);
  for (int i = 0; i < 3; ++i) {
    if (auto done = pmi.fence(group, "same parity", Deadline::after_seconds(60)); !done)
      return complain(done.error().text());
  }
  return 0;
}

int run() {
  params::Registry params;
  const std::string prefix = plugin::installation().prefix;
  if (auto loaded = params.load(params::Places::of_this_process(prefix)); !loaded)
    return complain(loaded.error().text());
  auto index = plugin::Index::scan(params, prefix);
  if (!index) return complain(index.error().text());
  std::string chosen;
  auto made = index->create_first<pmi::Framework>(pmi::Args{params}, &chosen);
  if (!made) return complain(made.error().text());
  pmi::Component& pmi = **made;
  for (int round = 0; round < 3; ++round) {
    if (exchange(pmi, round) != 0) return 1;
  }
  if (group_fences(pmi) != 0) return 1;
  const pmi::Identity& identity = pmi.identity();
  if (identity.nodes.node_count(identity.size) != 1) return complain("one machine is not one node");
  std::printf("%s: rank %u of %u, local rank %u\n", chosen.c_str(), identity.rank, identity.size,
              identity.nodes.local_rank(identity.rank));
  return 0;
}

}  // namespace

int main() { return run(); }
