// SPDX-License-Identifier: BSD-3-Clause
// Tables of cards. Layer: framework.

#include "frameworks/bootstrap/table.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/expects.hpp"
#include "core/worlds.hpp"

namespace starling::bootstrap {
namespace {

constexpr char kTable[] = "address table";
constexpr std::size_t kHeadBytes = 8, kRowBytes = 12;

Unexpected bad(const std::string& what) { return fail(Errc::bad_input, kTable, what); }

void sort(std::vector<TableEntry>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const TableEntry& a, const TableEntry& b) { return a.proc < b.proc; });
}

}  // namespace

std::vector<std::byte> encode_sorted(std::span<const TableEntry> entries) {
  const auto count = static_cast<std::uint32_t>(entries.size());
  std::size_t bytes = kHeadBytes + entries.size() * sizeof(Table::Row);
  std::size_t end = bytes;
  for (const TableEntry& entry : entries) end += entry.card.size();
  std::vector<std::byte> block(end);
  std::memcpy(block.data(), &count, sizeof count);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const TableEntry& entry = entries[i];
    expects(entry.proc.world == Worlds::kOwn, "a table of cards is of the own world");
    const Table::Row row{entry.proc.rank, static_cast<std::uint32_t>(bytes),
                         static_cast<std::uint32_t>(entry.card.size())};
    std::memcpy(block.data() + kHeadBytes + i * sizeof row, &row, sizeof row);
    std::copy(entry.card.begin(), entry.card.end(), block.begin() + static_cast<std::ptrdiff_t>(bytes));
    bytes += entry.card.size();
  }
  return block;
}

std::vector<std::byte> encode_table(std::vector<TableEntry> entries) {
  sort(entries);
  return encode_sorted(entries);
}

std::vector<std::vector<std::byte>> encode_chunks(std::vector<TableEntry> entries, std::size_t most_bytes) {
  sort(entries);
  std::vector<std::vector<std::byte>> chunks;
  for (std::size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    std::size_t bytes = kHeadBytes;
    for (; end < entries.size(); ++end) {
      bytes += kRowBytes + entries[end].card.size();
      if (bytes > most_bytes && end > begin) break;
    }
    chunks.push_back(encode_sorted(std::span(entries).subspan(begin, end - begin)));
  }
  return chunks;
}

Table::Row Table::row(std::uint32_t index) const noexcept {
  static_assert(sizeof(Row) == kRowBytes);
  Row row;
  std::memcpy(&row, block_.data() + kHeadBytes + std::size_t{index} * sizeof row, sizeof row);
  return row;
}

Result<Table> Table::open(std::span<const std::byte> block) {
  Table table;
  table.block_ = block;
  if (block.size() < kHeadBytes) return bad("is shorter than its head");
  std::memcpy(&table.size_, block.data(), sizeof table.size_);
  if (table.size_ > (block.size() - kHeadBytes) / sizeof(Row)) {
    return bad("says that it has " + std::to_string(table.size_) + " rows, more than fit into its " +
               std::to_string(block.size()) + " bytes");
  }
  std::uint32_t previous = 0;
  for (std::uint32_t i = 0; i < table.size_; ++i) {
    const Row row = table.row(i);
    if (row.offset > block.size() || row.bytes > block.size() - row.offset) {
      return bad("row " + std::to_string(i) + " points behind its end");
    }
    if (i > 0 && previous >= row.rank) return bad("row " + std::to_string(i) + " is out of order");
    previous = row.rank;
  }
  return table;
}

ProcId Table::at(std::uint32_t index) const noexcept { return {Worlds::kOwn, row(index).rank}; }

TableEntry Table::entry(std::uint32_t index) const {
  const Row at = row(index);
  const auto card = block_.subspan(at.offset, at.bytes);
  return {ProcId{Worlds::kOwn, at.rank}, {card.begin(), card.end()}};
}

std::optional<std::span<const std::byte>> Table::card(ProcId proc) const noexcept {
  if (proc.world != Worlds::kOwn) return std::nullopt;
  std::uint32_t low = 0, high = size_;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const Row at = row(middle);
    if (at.rank == proc.rank) return block_.subspan(at.offset, at.bytes);
    (at.rank < proc.rank ? low : high) = at.rank < proc.rank ? middle + 1 : middle;
  }
  return std::nullopt;
}

std::vector<std::byte> card_in(std::span<const std::byte> block, ProcId proc) {
  const auto table = Table::open(block);
  const auto card = table ? table->card(proc) : std::nullopt;
  return card ? std::vector<std::byte>(card->begin(), card->end()) : std::vector<std::byte>();
}

}  // namespace starling::bootstrap
