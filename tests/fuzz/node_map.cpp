// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes PMI_process_mapping: whatever is accepted must be consistent with itself. Layer: tests.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/node_map.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  const auto map = NodeMap::parse({reinterpret_cast<const char*>(data), size});
  if (!map || map->unknown()) return 0;
  const auto again = NodeMap::parse(map->text());
  if (!again || again->text() != map->text()) std::abort();
  constexpr std::uint32_t kSize = 37;
  for (const std::uint32_t rank : {0u, 1u, 17u, kSize - 1}) {
    const NodeId node = map->node_of(rank);
    if (again->node_of(rank) != node) std::abort();
    const auto ranks = map->ranks_on(node, kSize);
    const std::uint32_t local = map->local_rank(rank);
    if (local >= ranks.size() || ranks[local] != rank) std::abort();
  }
  if (map->node_count(kSize) == 0 || map->node_count(kSize) > kSize) std::abort();
  (void)map->node_of(4294967295u);
  return 0;
}
