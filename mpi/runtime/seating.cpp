// SPDX-License-Identifier: BSD-3-Clause
// Coming to a place. What is hard: a process manager may not say who is on which node, and opening a session
// still waits for nobody. The process is then alone until the first group of more than itself, and moves to
// its node while other threads may sleep in MPI. Layer: mpi. See docs/design/startup.md.

#include "mpi/runtime/seating.hpp"

#include <string>
#include <utility>

#include "frameworks/bootstrap/params.hpp"
#include "mpi/runtime/node_identity.hpp"
#include "mpi/runtime/params.hpp"

namespace starling::mpi {

Result<void> Seating::find() {
  auto found = parts_.place.find();
  if (parts_.place.alone()) state_ = State::alone;
  return found;
}

Result<void> Seating::attach() {
  if (auto attached = parts_.place.attach(); !attached) return attached;
  settle();
  return {};
}

/// Tells those who work on the node's memory which one it is.
void Seating::settle() {
  const params::Registry& params = parts_.environment.params;
  parts_.waits.suit_place(params);
  const auto shared_min = static_cast<std::uint64_t>(params.integer(kAllocMemSharedMin));
  parts_.allocated_memory.share_in(parts_.place.segment(), shared_min);
}

Result<void> Seating::know() {
  if (state_ == State::alone) {
    state_ = State::asking;
    auto moved = parts_.phases.time("place on the node", [this] { return move_to_node(); });
    state_ = moved ? State::on_node : State::refused;
    if (!moved) refused_ = std::move(moved).error();
    parts_.waits.polling().wake();  // threads that have come here meanwhile
  }
  if (state_ == State::asking) {
    auto waited = parts_.waits.wait_for_others(
        [this] { return state_ != State::asking; }, Deadline{},
        [] { return std::string("waits for another thread, which finds out who is on which node"); });
    if (!waited) return waited;
  }
  if (state_ == State::refused) return fail(*refused_);
  return {};
}

Result<void> Seating::move_to_node() {
  const params::Registry& params = parts_.environment.params;
  const Deadline deadline =
      Deadline::after_seconds(static_cast<std::uint64_t>(params.integer(bootstrap::kTimeout)));
  auto found = exchange_node_map(parts_.pmi, node_identity(parts_.place.meeting_place()),
                                 [&] { return parts_.fences.meet({}, {}, deadline, {}); });
  if (!found) {
    return fail(std::move(found).error().within(
        "the process manager (" + parts_.pmi.capabilities().server +
        ") does not say which rank is on which node, so every process of the job must make a communicator of "
        "more than itself, or none"));
  }
  Sleeper& sleeper = parts_.waits.polling().sleeper();
  sleeper.leave_segment();
  if (auto moved = parts_.place.move(std::move(*found)); !moved) return moved;
  settle();
  sleeper.follow();
  return parts_.transports.create_for_node();
}

}  // namespace starling::mpi
