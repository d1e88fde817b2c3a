// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The cards that an exchange has left: chunks of a table, once per node where there is room. Layer:
/// plugin.
///
/// Chunks come in the order of their processes. The root of a node keeps them and an index in the node's
/// store; the other members of the node read them there.
/// Threads:   under the runtime's lock. Chunks and index are not changed once shared.
/// Ownership: a book owns what the node's store has not taken.
/// Errors:    chunks are other processes' bytes: bad_input.
/// Units:     bytes.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/table.hpp"

namespace starling::bootstrap {

/// One chunk in the index, as it is in the node's store.
struct ChunkPlace {
  ProcId first;
  std::uint64_t place = 0;  ///< 0: not in the store
  std::uint64_t bytes = 0;
};
static_assert(sizeof(ChunkPlace) == 24);

/// Where the index of a book is; the bytes of a block of BlockKind::shared.
struct SharedBook {
  std::uint64_t place = 0;
  std::uint64_t bytes = 0;
};

class Book {
 public:
  /// `store` null: everything stays in this process.
  explicit Book(NodeStore* store) : store_(store) {}
  /// The book that another process of the node has shared.
  [[nodiscard]] static Result<Book> open(NodeStore* store, const Block& shared);

  /// The next chunk.
  [[nodiscard]] Result<void> add(const SharedBytes& chunk);
  /// Puts the index into the store, after the last chunk; nullopt if something did not fit there.
  [[nodiscard]] std::optional<SharedBook> share();

  [[nodiscard]] std::uint32_t chunks() const noexcept { return static_cast<std::uint32_t>(index().size()); }
  [[nodiscard]] std::span<const std::byte> chunk(std::uint32_t number) const;
  /// Where it is bytes of this book: valid as long as the book.
  [[nodiscard]] std::optional<std::span<const std::byte>> card(ProcId proc) const;

 private:
  [[nodiscard]] std::span<const ChunkPlace> index() const noexcept;

  NodeStore* store_;
  std::vector<ChunkPlace> own_index_;
  std::vector<SharedBytes> own_;  // by number; null: in the store
  std::span<const std::byte> shared_index_;
};

}  // namespace starling::bootstrap
