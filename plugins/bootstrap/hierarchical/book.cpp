// SPDX-License-Identifier: BSD-3-Clause
// Layer: plugin.

#include "plugins/bootstrap/hierarchical/book.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace starling::bootstrap {
namespace {

constexpr char kWhere[] = "shared address table";

}  // namespace

Result<Book> Book::open(NodeStore* store, const Block& shared) {
  SharedBook where;
  if (store == nullptr || shared.bytes == nullptr || shared.bytes->size() != sizeof where)
    return fail(Errc::bad_input, kWhere, "a place of a wrong length");
  std::memcpy(&where, shared.bytes->data(), sizeof where);
  if (where.place == 0 || where.bytes == 0 || where.bytes % sizeof(ChunkPlace) != 0)
    return fail(Errc::bad_input, kWhere, "an index of " + std::to_string(where.bytes) + " bytes");
  Book book(store);
  book.shared_index_ = store->at(where.place, static_cast<std::size_t>(where.bytes));
  return book;
}

Result<void> Book::add(const SharedBytes& chunk) {
  auto table = Table::open(*chunk);
  if (!table) return fail(std::move(table).error());
  if (table->size() == 0) return fail(Errc::bad_input, kWhere, "a chunk without a card");
  ChunkPlace where{table->at(0), 0, chunk->size()};
  if (!own_index_.empty() && !(own_index_.back().first < where.first))
    return fail(Errc::bad_input, kWhere, "a chunk is out of order");
  SharedBytes kept = chunk;
  if (store_ != nullptr) {
    if (const auto place = store_->keep(chunk)) {
      where.place = *place;
      kept = nullptr;
    }
  }
  own_index_.push_back(where);
  own_.push_back(std::move(kept));
  return {};
}

std::optional<SharedBook> Book::share() {
  const bool whole =
      std::all_of(own_.begin(), own_.end(), [](const auto& chunk) { return chunk == nullptr; });
  if (store_ == nullptr || !whole || own_index_.empty()) return std::nullopt;
  const auto bytes = std::as_bytes(std::span(own_index_));
  const auto place = store_->keep(share_bytes({bytes.begin(), bytes.end()}));
  if (!place) return std::nullopt;
  shared_index_ = store_->at(*place, bytes.size());
  own_index_ = {};
  own_ = {};
  return SharedBook{*place, shared_index_.size()};
}

std::span<const ChunkPlace> Book::index() const noexcept {
  if (shared_index_.empty()) return own_index_;
  // The store keeps things at multiples of a page or as a block of their own, so this is aligned.
  return {reinterpret_cast<const ChunkPlace*>(shared_index_.data()),
          shared_index_.size() / sizeof(ChunkPlace)};
}

std::span<const std::byte> Book::chunk(std::uint32_t number) const {
  const ChunkPlace& where = index()[number];
  if (where.place == 0) return *own_[number];
  return store_->at(where.place, static_cast<std::size_t>(where.bytes));
}

std::optional<std::span<const std::byte>> Book::card(ProcId proc) const {
  const auto all = index();
  const auto after = std::upper_bound(all.begin(), all.end(), proc,
                                      [](ProcId a, const ChunkPlace& b) { return a < b.first; });
  if (after == all.begin()) return std::nullopt;
  const auto table = Table::open(chunk(static_cast<std::uint32_t>(after - all.begin() - 1)));
  return table ? table->card(proc) : std::nullopt;
}

}  // namespace starling::bootstrap
