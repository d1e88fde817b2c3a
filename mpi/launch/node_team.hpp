// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The boards of a communicator's members that share a node's memory: of all, or of those on the own
/// node. Layer: mpi. docs/design/node-collectives.md
///
/// Boards are made when they are first worth it, by all members at the same call. The lowest member reserves
/// memory, and all agree by messages that they see the same memory. If one does not, or no memory is left,
/// all of them stay with messages.
///
/// Threads:   under the runtime's lock, which waiting releases; one blocking collective at a time, as MPI
///            asks.
/// Ownership: belongs to the communicator; the last member to free it gives the memory back.
/// Errors:    a member that dies ends the collective on the others with MPI_ERR_PROC_ABORTED; those who
///            notice that members disagree about the length or the operation get MPI_ERR_TRUNCATE.
/// Units:     bytes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/coll/node/board.hpp"
#include "mpi/coll/node/shapes.hpp"
#include "mpi/coll/node/variable_blocks.hpp"
#include "mpi/coll/node/wakes.hpp"
#include "mpi/launch/launch.hpp"

namespace starling::mpi::coll {

/// What the choice between board and messages depends on; equal on all members.
struct NodeCall {
  Collective which;
  std::uint64_t bytes;  ///< as Facts::bytes
  std::uint64_t
      cell_bytes;  ///< what a member writes in one round if the board has room; it may take several rounds
  std::uint64_t least_cell;  ///< what a round must carry for the board to serve
  bool commutative = false;
};

/// The NodeCall of a collective in which each member writes a block for each other one.
[[nodiscard]] inline NodeCall blocks_call(Collective which, std::uint64_t block, const Comm& comm) noexcept {
  const std::uint64_t rounded = (block + 15) & ~std::uint64_t{15};
  return {which, block, rounded * comm.size(), std::min<std::uint64_t>(rounded, 64) * comm.size()};
}

/// The local ranks of an intracommunicator's members. Empty unless all of them are processes of this node and
/// of this world.
[[nodiscard]] std::vector<std::uint32_t> local_ranks(const Comm& comm);

class NodeTeam final : public node::Patience {
 public:
  /// The board for this call, or null: the call uses messages. Collective over the communicator.
  [[nodiscard]] static node::Board* board(const Form& form, Comm& comm, const NodeCall& call);
  /// As above, for a barrier.
  [[nodiscard]] static node::Board* board(const Form& form, Comm& comm);
  /// As board(), for a vector of `bytes` and elements of `element_bytes`, where no parameter names an
  /// algorithm.
  [[nodiscard]] static node::Board* board_for_vector(const Form& form, Comm& comm, std::uint64_t bytes,
                                                     std::uint64_t element_bytes);
  /// As board(), for blocks whose sizes not all members know; `to_each`: each member writes one for each
  /// other.
  [[nodiscard]] static node::Board* board_for_blocks(const Form& form, Comm& comm, bool to_each);
  /// What the call returns after its part on the board.
  [[nodiscard]] static int ended(Comm& comm, const node::Board& board, bool complete);
  /// As above, for blocks: sends and receives those that were too long for the board. `receive(rank)` and
  /// `send(rank)` are their buffers.
  template <class Receive, class Send>
  [[nodiscard]] static int ended(Comm& comm, const node::BlocksLeft& left, Receive receive, Send send);

  /// For a communicator over several nodes: the board of its members on this node, in the order of
  /// Levels::local_peers. `board` null: they use messages.
  struct LocalPeers {
    NodeTeam* team = nullptr;
    node::Board* board = nullptr;
  };
  [[nodiscard]] static LocalPeers local_peers(const char* function, Comm& comm, std::uint64_t bytes,
                                              std::uint64_t cell_bytes, std::uint64_t least_cell);
  /// Tells the members of a loss that they may not know of: `rank` has ended, or (`told`) has told of one
  /// that has.
  void lose(int rank, bool told) noexcept;
  /// What a call returns after its part on the board, if members have died or disagree.
  [[nodiscard]] int failure(const node::Board& board, bool complete) const;
  /// Whether this process knows of a loss, and what calls return then.
  [[nodiscard]] bool lost() const noexcept { return lost_ != 0; }
  [[nodiscard]] int died() const;
  /// The rank that has ended, as far as this process knows.
  [[nodiscard]] int lost_rank() const noexcept { return static_cast<int>(lost_ & ~kTold) - 1; }

  /// A team of these ranks. Not all of them need be on this node.
  NodeTeam(Comm& comm, std::vector<int> ranks);
  ~NodeTeam();

  [[nodiscard]] bool wait(Ready ready, void* context, std::uint32_t member) override;
  void posted() noexcept override;
  void posted(std::uint32_t reader) noexcept override;
  [[nodiscard]] bool finish_awaited() noexcept override;
  [[nodiscard]] bool finish_awaited(std::uint32_t writer) noexcept override;
  void finished() noexcept override;

 private:
  struct Header;
  struct Bells;
  struct Area {
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
    bool tried = false;
    std::unique_ptr<node::Board> board;
  };
  [[nodiscard]] static NodeTeam* of(const Form& form, Comm& comm);
  [[nodiscard]] static NodeTeam* prepared(const char* function, Comm& comm);
  [[nodiscard]] node::Board* board_at(node::Shapes::Index index);
  [[nodiscard]] node::Board* make(Area& area, node::BoardMemory::Shape shape);
  [[nodiscard]] node::Board* board_for(std::uint64_t bytes, std::uint64_t cell_bytes,
                                       std::uint64_t least_cell);
  [[nodiscard]] node::Difference by_rank(node::Difference difference) const noexcept;
  template <class Build>
  [[nodiscard]] int by_messages(Build&& build);
  [[nodiscard]] static int ended_blocks(Comm& comm, const node::BlocksLeft& left, int rc);
  [[nodiscard]] node::FamilyPlan plan_families();
  [[nodiscard]] std::uint64_t reserve(std::size_t bytes);
  [[nodiscard]] bool agreed(bool here);
  [[nodiscard]] Header& header(const Area& area) const noexcept;
  void give_back(Area& area) noexcept;
  [[nodiscard]] bool somebody_died() noexcept;
  [[nodiscard]] node::Wakes<Bells> wakes() const noexcept;

  Comm& comm_;
  std::vector<int> ranks_;                  // of the members in the communicator
  std::uint32_t me_ = 0;                    // this process among them
  std::vector<std::uint32_t> local_ranks_;  // of the members; empty: not all are here
  const char* function_ = "";               ///< of the program, as in Form
  std::uint64_t bytes_ = 0;  ///< of its call, for hang help; 0: none, or blocks of several sizes
  std::uint32_t calls_ = 0;
  static constexpr std::uint32_t kTold = 1u << 31;
  std::uint32_t lost_ = 0;  // 1 + the rank that died; with kTold: 1 + the rank that told of a death elsewhere
  node::Shapes shapes_;
  std::array<Area, node::Shapes::kBoards> areas_;
  std::unique_ptr<node::FamilyPlan> families_;  // null until a board has been made
};

template <class Receive, class Send>
int NodeTeam::ended(Comm& comm, const node::BlocksLeft& left, Receive receive, Send send) {
  int rc = MPI_SUCCESS;
  if (left.complete && left.messages()) {
    auto build = [&](Schedule& schedule, const Team&) {
      for (const int rank : left.from) schedule.receive(rank, receive(rank));
      for (const int rank : left.to) schedule.send(rank, send(rank));
      schedule.next_round();
    };
    rc = launch(blocking(comm.node_team->function_), comm, Used{}, build);
  } else {
    (void)comm.next_collective_tag();  // all members count alike
  }
  return ended_blocks(comm, left, rc);
}

}  // namespace starling::mpi::coll
