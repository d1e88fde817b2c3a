// SPDX-License-Identifier: BSD-3-Clause
// Model: three members at a board. In some rounds all write and all read, in others one writes; a cell
// that is written while somebody still reads it, or read before it is written, is a race of its payload.

#include "mpi/coll/node/board.hpp"
#include "tests/model/model.hpp"

namespace starling::model {

constexpr std::uint32_t kMembers = 3, kCells = 4;

struct BoardWords {
  ModelAtomic<std::uint64_t> posted[kMembers][kCells];
  ModelAtomic<std::uint64_t> finished[kMembers];
  rl::var<unsigned> payload[kMembers][kCells];
};

class ModelWords {
 public:
  ModelWords() = default;
  explicit ModelWords(BoardWords& words) : words_(&words) {}
  static std::uint32_t cells() { return kCells; }
  ModelAtomic<std::uint64_t>& posted(std::uint32_t member, std::uint32_t cell) const {
    return words_->posted[member][cell];
  }
  ModelAtomic<std::uint64_t>& finished(std::uint32_t member) const { return words_->finished[member]; }
  rl::var<unsigned>& payload(std::uint32_t member, std::uint32_t cell) const {
    return words_->payload[member][cell];
  }

 private:
  BoardWords* words_ = nullptr;
};

struct BoardModel : rl::test_suite<BoardModel, kMembers> {
  static constexpr unsigned kRounds = 10;
  BoardWords memory;

  using Board = mpi::coll::node::Board<ModelWords>;

  static void write(Board& board, const ModelWords& words, unsigned value) {
    while (!board.writable()) wait_a_little();
    words.payload(board.me(), board.cell())($) = value;
    board.post();
  }
  static void read(Board& board, const ModelWords& words, std::uint32_t member, unsigned value) {
    while (!board.posted(member)) wait_a_little();
    check(words.payload(member, board.cell())($) == value);
  }
  /// All read all in the rounds 4, 5 and 9; in the others one writes, so that writers run ahead of readers.
  static bool meeting(unsigned round) { return round == 4 || round == 5 || round == 9; }
  static std::uint32_t writer(unsigned round) { return round < 4 ? 0 : 1; }

  void thread(unsigned index) {
    const ModelWords words(memory);
    Board board(words, index, kMembers);
    for (unsigned round = 0; round < kRounds; ++round) {
      board.begin();
      if (meeting(round)) {
        write(board, words, 100 * round + index);
        for (std::uint32_t member = 0; member < kMembers; ++member) {
          if (member != index) read(board, words, member, 100 * round + member);
        }
        board.all_have_begun();
      } else if (index == writer(round)) {
        write(board, words, 100 * round + index);
      } else {
        read(board, words, writer(round), 100 * round + writer(round));
      }
      board.finish();
    }
  }
};

}  // namespace starling::model

int main(int argc, char** argv) {
  using namespace starling::model;
  return survives_random<BoardModel>(iterations_of(argc, argv, 100000)) ? 0 : 1;
}
