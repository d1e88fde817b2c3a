// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The words of a board, as models see them. Layer: tests.

#include "mpi/coll/node/board_rounds.hpp"
#include "tests/model/model.hpp"

namespace starling::model {

template <std::uint32_t kMembers, std::uint32_t kCells>
struct BoardWords {
  ModelAtomic<std::uint64_t> posted[kMembers][kCells];
  ModelAtomic<std::uint64_t> finished[kMembers];
  rl::var<unsigned> payload[kMembers][kCells];
};

template <std::uint32_t kMembers, std::uint32_t kCells>
class ModelWords {
 public:
  ModelWords() = default;
  explicit ModelWords(BoardWords<kMembers, kCells>& words) : words_(&words) {}
  static std::uint32_t cells() { return kCells; }
  ModelAtomic<std::uint64_t>& posted(std::uint32_t member, std::uint32_t cell) const {
    return words_->posted[member][cell];
  }
  ModelAtomic<std::uint64_t>& finished(std::uint32_t member) const { return words_->finished[member]; }
  rl::var<unsigned>& payload(std::uint32_t member, std::uint32_t cell) const {
    return words_->payload[member][cell];
  }

 private:
  BoardWords<kMembers, kCells>* words_ = nullptr;
};

}  // namespace starling::model
