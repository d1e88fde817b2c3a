// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes tables of addresses, which come from other processes: what is accepted must be searchable, and
// survive being written again. Layer: tests.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "frameworks/bootstrap/table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  using bootstrap::Table;
  const auto table = Table::open({reinterpret_cast<const std::byte*>(data), size});
  if (!table) return 0;
  std::vector<bootstrap::TableEntry> entries;
  for (std::uint32_t i = 0; i < table->size(); ++i) {
    entries.push_back(table->entry(i));
    const auto card = table->card(entries.back().proc);
    if (!card || !std::ranges::equal(*card, entries.back().card)) std::abort();
  }
  if (table->size() == 0 && table->card({0, 0})) std::abort();
  std::reverse(entries.begin(), entries.end());  // the order of the entries is not to matter
  const std::vector<std::byte> written = bootstrap::encode_table(entries);
  const auto again = Table::open(written);
  if (!again || again->size() != table->size()) std::abort();
  for (const auto& entry : entries) {
    const auto card = again->card(entry.proc);
    if (!card || !std::ranges::equal(*card, entry.card)) std::abort();
  }
  return 0;
}
