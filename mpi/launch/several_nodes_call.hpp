// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The parts of one blocking collective over several nodes: on the node's board, and between nodes.
/// Layer: mpi. docs/design/collectives.md
///
/// Threads: under the runtime's lock. Errors: result() has the first one. A process that has heard of a loss
/// or a disagreement takes part to the end, or tells those that wait for it.

#include <utility>

#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/launch/node_team.hpp"

namespace starling::mpi::coll::several_nodes {

/// One call of a process whose node has a board.
class Call {
 public:
  Call(Comm& comm, NodeTeam::LocalPeers local_peers, const char* function, int root = -1)
      : Call(comm, local_peers, function, Levels(*comm.hierarchy, static_cast<int>(comm.rank()), root)) {}
  Call(Comm& comm, NodeTeam::LocalPeers local_peers, const char* function, Levels speaking)
      : levels(std::move(speaking)),
        comm_(comm),
        team_(*local_peers.team),
        board_(*local_peers.board),
        part_{function, comm.next_collective_tag()} {}

  const Levels levels;

  /// A part on the node's board; work(board) is false if a member has died.
  template <class Work>
  void inside(Work work) {
    if (part_.state == Part::State::lost) return;
    const bool complete = work(board_);
    if (complete && board_.equal()) [[likely]]
      return;
    if (rc_ == MPI_SUCCESS) rc_ = team_.failure(board_, complete);
    part_.state = complete ? Part::State::worthless : Part::State::lost;
    part_.gone = team_.lost_rank();
  }
  /// A part among the speakers. It is done after a loss in the node too, since the other speakers are told
  /// then.
  template <class Build>
  void across(Build build) {
    if (!levels.speaks()) return;
    outside([&](Schedule& schedule) {
      schedule.among(levels.speakers);
      build(schedule, levels.across);
      schedule.next_round();
      schedule.among({});
    });
  }
  /// A part by messages to other nodes, for a process that has any to send or receive.
  template <class Build>
  void outside(Build build) {
    auto whole = [&](Schedule& schedule) {
      build(schedule);
      if (!memory_) schedule.without_memory();
    };
    using Whole = decltype(whole);
    const auto run = [](void* context, Schedule& schedule, const Team&) {
      (*static_cast<Whole*>(context))(schedule);
    };
    const PartEnd end = run_part(comm_, part_, run, &whole);
    if (end.rc == MPI_SUCCESS) [[likely]]
      return;
    rc_ = end.rc;
    part_.state = end.lost ? Part::State::lost : Part::State::worthless;
    if (end.lost) team_.lose(end.gone, end.told);
  }
  /// A broadcast from the speaker to all of its node.
  void down(Bcast part) {
    part.root = levels.head;
    const bool nothing = levels.speaks() && part_.state == Part::State::worthless;
    inside(
        [&](node::Board& board) { return nothing ? node::bcast_nothing(board) : node::bcast(board, part); });
  }
  /// There was none for what this process combines or carries: it takes part in all that follows, so that
  /// nobody waits for it, with nothing to give.
  void without_memory() {
    memory_ = false;
    rc_ = no_memory(comm_);
    part_.state = Part::State::worthless;
  }
  /// Whether this process has nothing to pass on, because members disagree.
  [[nodiscard]] bool worthless() const noexcept { return part_.state == Part::State::worthless; }
  [[nodiscard]] int result() const noexcept { return rc_; }

 private:
  Comm& comm_;
  NodeTeam& team_;
  node::Board& board_;
  Part part_;
  bool memory_ = true;
  int rc_ = MPI_SUCCESS;
};

}  // namespace starling::mpi::coll::several_nodes
