// SPDX-License-Identifier: BSD-3-Clause
// Model: three members at a board. In some rounds all write and all read, in others one writes; a cell
// that is written while somebody still reads it, or read before it is written, is a race of its payload.

#include "tests/model/board_words.hpp"

namespace starling::model {

constexpr std::uint32_t kMembers = 3, kCells = 4;

struct BoardModel : rl::test_suite<BoardModel, kMembers> {
  static constexpr unsigned kRounds = 10;
  BoardWords<kMembers, kCells> memory;

  using ModelWords = model::ModelWords<kMembers, kCells>;
  using Board = mpi::coll::node::BoardRounds<ModelWords>;

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
