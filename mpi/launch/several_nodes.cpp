// SPDX-License-Identifier: BSD-3-Clause
// Boards inside nodes, schedules among their speakers. What is hard: who learns of a loss or a disagreement
// has to take part to the end, or tell those who wait for it. Layer: mpi. docs/design/collectives.md

#include "mpi/launch/several_nodes.hpp"

#include <algorithm>
#include <memory>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/node/algorithms.hpp"
#include "mpi/coll/nodes.hpp"
#include "mpi/launch/node_team.hpp"

namespace starling::mpi::coll::several_nodes {
namespace {

/// Cells of this size carry the buffer of a bcast, one after the other.
constexpr std::uint64_t kPiece = 16384;

/// One call of a process whose node has a board.
class Call {
 public:
  Call(Comm& comm, NodeTeam::Mates mates, const char* function, int root = -1)
      : levels(*comm.hierarchy, static_cast<int>(comm.rank()), root),
        comm_(comm),
        team_(*mates.team),
        board_(*mates.board),
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
  /// A part among the speakers. Also after a loss in the node: the others are told then.
  template <class Build>
  void across(Build build) {
    if (!levels.speaks()) return;
    auto call = [&](Schedule& schedule) {
      schedule.among(levels.speakers);
      build(schedule, levels.across);
      schedule.next_round();
      schedule.among({});
    };
    const auto run = [](void* context, Schedule& schedule, const Team&) {
      (*static_cast<decltype(call)*>(context))(schedule);
    };
    const PartEnd end = run_part(comm_, part_, run, &call);
    if (end.rc == MPI_SUCCESS) [[likely]]
      return;
    rc_ = end.rc;
    part_.state = end.lost ? Part::State::lost : Part::State::worthless;
    if (end.lost) team_.lose(end.gone, end.told);
  }
  /// What the speaker has goes to all of the node.
  void down(Bcast part) {
    part.root = levels.head;
    const bool nothing = levels.speaks() && part_.state == Part::State::worthless;
    inside(
        [&](node::Board& board) { return nothing ? node::bcast_nothing(board) : node::bcast(board, part); });
  }
  [[nodiscard]] int result() const noexcept { return rc_; }

 private:
  Comm& comm_;
  NodeTeam& team_;
  node::Board& board_;
  Part part_;
  int rc_ = MPI_SUCCESS;
};

bool chosen(const Form& form, Comm& comm, Collective which, std::uint64_t bytes, bool commutative) {
  if (form.kind != Form::Kind::blocking) return false;
  const Team team = team_of(comm);
  return by_nodes(team, tuning(), which, {team.size, bytes, commutative});
}

/// For a vector that the operation can be applied to where it stands in a cell.
NodeTeam::Mates mates_for(const Form& form, Comm& comm, Collective which, const Reduce& asked) {
  const std::uint64_t bytes = asked.count * asked.type.size;
  if (!chosen(form, comm, which, bytes, asked.operation.commutative)) return {};
  if (!node::dense(asked.type)) return {};
  return NodeTeam::mates(form.function, comm, bytes, bytes, asked.type.size);
}

}  // namespace

std::optional<int> barrier(const Form& form, Comm& comm) {
  if (form.kind != Form::Kind::blocking || team_of(comm).hierarchy == nullptr) return std::nullopt;
  const NodeTeam::Mates mates = NodeTeam::mates(form.function, comm, 0, 0, 0);
  if (mates.board == nullptr) return std::nullopt;
  Call call(comm, mates, form.function);
  call.inside([](node::Board& board) { return node::arrive(board); });
  call.across([](Schedule& schedule, const Team& speakers) { barrier_dissemination(schedule, speakers); });
  call.inside([](node::Board& board) { return node::leave(board); });
  return call.result();
}

std::optional<int> bcast(const Form& form, Comm& comm, const Bcast& asked) {
  const std::uint64_t bytes = asked.count * asked.type.size;
  if (!chosen(form, comm, Collective::bcast, bytes, true)) return std::nullopt;
  const NodeTeam::Mates mates = NodeTeam::mates(form.function, comm, bytes, std::min(bytes, kPiece), 1);
  if (mates.board == nullptr) return std::nullopt;
  Call call(comm, mates, form.function, asked.root);
  call.across([&](Schedule& schedule, const Team& speakers) {
    Bcast part = asked;
    part.root = call.levels.root_node;
    coll::bcast(schedule, speakers, {}, part);
  });
  call.down(asked);
  return call.result();
}

std::optional<int> reduce(const Form& form, Comm& comm, const Reduce& asked) {
  const NodeTeam::Mates mates = mates_for(form, comm, Collective::reduce, asked);
  if (mates.board == nullptr) return std::nullopt;
  Call call(comm, mates, form.function, asked.root);
  const bool root = static_cast<int>(comm.rank()) == asked.root;
  std::unique_ptr<std::byte[]> scratch;  // dense types only: no gaps
  void* result = asked.receive;
  if (!root) {
    if (call.levels.speaks()) scratch.reset(new std::byte[asked.count * asked.type.size]);
    result = scratch.get();
  }
  const Reduce part = reduction_in_node(call.levels, asked, asked.in_place && root, result);
  call.inside([&](node::Board& board) { return node::reduce(board, part); });
  call.across([&](Schedule& schedule, const Team& speakers) {
    coll::reduce(schedule, speakers, {}, reduction_across(call.levels, asked, result));
  });
  return call.result();
}

std::optional<int> allreduce(const Form& form, Comm& comm, const Reduce& asked) {
  const NodeTeam::Mates mates = mates_for(form, comm, Collective::allreduce, asked);
  if (mates.board == nullptr) return std::nullopt;
  Call call(comm, mates, form.function);
  const Reduce part = reduction_in_node(call.levels, asked, asked.in_place, asked.receive);
  call.inside([&](node::Board& board) { return node::reduce(board, part); });
  call.across([&](Schedule& schedule, const Team& speakers) {
    coll::allreduce(schedule, speakers, {}, allreduction_across(asked));
  });
  call.down(Bcast{asked.receive, asked.count, asked.type, 0});
  return call.result();
}

}  // namespace starling::mpi::coll::several_nodes
