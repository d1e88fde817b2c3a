// SPDX-License-Identifier: BSD-3-Clause
// Where this process is: its node, its seat there, the node's segment. What is hard: a process manager may
// not say who is on which node, and opening a session still waits for nobody. The process is then alone until
// the first group of more than itself, and moves to its node while other threads may sleep in MPI. Layer:
// mpi. See docs/design/startup.md.

#include <algorithm>
#include <string>
#include <utility>

#include "core/log.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "frameworks/shm/attach.hpp"
#include "mpi/runtime/cores.hpp"
#include "mpi/runtime/node_identity.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {

Result<void> Runtime::find_place() {
  nodes_ = pmi_->identity().nodes;
  if (nodes_.unknown() && world_size_ > 1) {
    nodes_ = NodeMap(std::vector<NodeMap::Block>{{0, world_size_, 1}});
    placed_ = Placed::alone;
  }
  return take_seat();
}

Result<void> Runtime::take_seat() {
  const pmi::Identity& identity = pmi_->identity();
  if (world_size_ == 1) {
    node_ranks_ = {identity.rank};
  } else {
    node_ranks_ = nodes_.ranks_on(nodes_.node_of(identity.rank), world_size_);
  }
  const auto own = std::lower_bound(node_ranks_.begin(), node_ranks_.end(), self_.rank);
  if (own == node_ranks_.end() || *own != self_.rank) {
    return fail(
        Errc::bad_input, "place on the node",
        "the process mapping " + nodes_.text() + " does not contain rank " + std::to_string(self_.rank));
  }
  local_rank_ = static_cast<std::uint32_t>(own - node_ranks_.begin());

  const std::int64_t spin_us = environment_.params.integer(kSpin);
  crowded_ = node_ranks_.size() > cores_of_job();
  hot_polls_ = crowded_ ? 4 : 64;
  const std::int64_t yield_us = environment_.params.integer(kYield);
  const auto ranks = static_cast<std::int64_t>(node_ranks_.size());
  const auto patience = [&](bool shares_core) {
    const std::int64_t spin = spin_us >= 0 ? spin_us : (shares_core ? 0 : 100);
    const std::int64_t yield = yield_us >= 0 ? yield_us : (shares_core ? 500 + 50 * ranks : 0);
    return Patience{.spin_ns = static_cast<std::uint64_t>(spin) * 1000,
                    .yield_ns = static_cast<std::uint64_t>(yield) * 1000};
  };
  patience_ = patience(crowded_);
  patience_on_shared_core_ = patience(true);
  return {};
}

Result<void> Runtime::attach_segment() {
  const auto local_size = static_cast<std::uint32_t>(node_ranks_.size());
  const shm::Geometry geometry = shm::geometry_from(environment_.params, local_size);
  shm::SegmentSpec spec;
  spec.job = pmi_->identity().job;
  spec.node = world_size_ == 1 ? 0 : to_int(nodes_.node_of(self_.rank));
  spec.local_rank = local_rank_;
  spec.local_size = local_size;
  spec.bytes = geometry.total_bytes();
  const auto seconds = static_cast<std::uint64_t>(environment_.params.integer(bootstrap::kTimeout));
  auto attached =
      placed_ == Placed::alone ? lone_segment(spec) : choose_segment(spec, Deadline::after_seconds(seconds));
  if (!attached) return fail(std::move(attached).error());
  for (const std::string& reason : attached->refused) log::info("shared memory: not used: " + reason);
  log::info("shared memory: " + attached->how);
  shared_memory_ = std::move(attached->how);
  shared_memory_refused_ = std::move(attached->refused);
  const bool may_be_looked_for = !attached->segment.inherited;
  auto opened = shm::NodeSegment::open(std::move(attached->segment), geometry, local_rank_);
  if (!opened) return fail(std::move(opened).error());
  lone_segment_ = std::exchange(segment_, std::make_unique<shm::NodeSegment>(std::move(*opened)));
  yields_ = Yields(segment_->yield_pause(), node_ranks_.size());
  busy_ = Busy(*segment_);
  segment_->enter();
  allocated_memory_.share_in(*segment_,
                             static_cast<std::uint64_t>(environment_.params.integer(kAllocMemSharedMin)));
  segment_giver_ = std::move(attached->giver);
  // The last to attach ends the looking: names go, givers stop.
  if (may_be_looked_for && everybody_attached()) segment_complete();
  return {};
}

/// Not by the node's name: others may be making the node's own segment under it.
Result<shm::Attached> Runtime::lone_segment(const shm::SegmentSpec& spec) {
  auto segment = shm::private_segment(environment_.params, spec);
  if (!segment) return fail(std::move(segment).error());
  return shm::Attached{std::move(*segment), 0, nullptr, "of this process alone so far", {}};
}

Result<shm::Attached> Runtime::choose_segment(const shm::SegmentSpec& spec, Deadline deadline) {
  auto candidates = environment_.plugins.admitted(shm::Framework::kName.view());
  if (!candidates) return fail(std::move(candidates).error());
  std::vector<plugin::Index::Handle<shm::Framework>> components;
  std::vector<shm::Way> ways;
  std::string reasons;
  bool ordered = false;
  for (const plugin::Candidate* const candidate : *candidates) {
    ordered |= environment_.plugins.named_by_user(*candidate);
    auto made = environment_.plugins.create<shm::Framework>(*candidate, {environment_.params});
    if (made) {
      ways.push_back({candidate->name, made->get()});
      if (auto inherited = shm::take_inherited(ways.back(), spec, deadline)) {
        shm_ = std::move(*made);
        return std::move(*inherited);
      }
      components.push_back(std::move(*made));
    } else {
      reasons += "\n  " + made.error().text();
      if (made.error().code == Errc::bad_input) break;  // others of this node may see it otherwise
    }
  }
  if (ways.empty()) return fail(Errc::not_found, "shm", "no component can be used:" + reasons);
  auto attached = shm::attach_node_segment(ways, spec, ordered, deadline);
  if (attached) shm_ = std::move(components[attached->way]);
  return attached;
}

void Runtime::segment_complete() noexcept {
  if (shm_ != nullptr) shm_->all_attached();
  if (segment_giver_ != nullptr) segment_giver_->end();
}

bool Runtime::is_absent(std::uint32_t local_rank) const noexcept {
  const auto state = segment_->slot(local_rank).state.load(std::memory_order_acquire);
  return state == static_cast<std::uint32_t>(shm::ProcState::absent);
}

bool Runtime::everybody_attached() noexcept {
  // Between the own state and the look at the others': of several that are last at once, one sees all.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t rank = 0; rank < segment_->local_size(); ++rank) {
    if (is_absent(rank)) return false;
  }
  return true;
}

Result<void> Runtime::know_place() {
  if (placed_ == Placed::alone) {
    placed_ = Placed::asking;
    const std::uint64_t begin = now_ns();
    auto moved = move_to_node();
    add_phase("place on the node", now_ns() - begin);
    placed_ = moved ? Placed::on_node : Placed::refused;
    if (!moved) refused_place_ = std::move(moved).error();
    wake();  // threads that have come here meanwhile
  }
  if (placed_ == Placed::asking) {
    auto waited =
        wait([this] { return placed_ != Placed::asking; }, Deadline{},
             [] { return std::string("waits for another thread, which finds out who is on which node"); });
    if (!waited) return waited;
  }
  if (placed_ == Placed::refused) return fail(*refused_place_);
  return {};
}

Result<void> Runtime::move_to_node() {
  const auto seconds = static_cast<std::uint64_t>(environment_.params.integer(bootstrap::kTimeout));
  const Deadline deadline = Deadline::after_seconds(seconds);
  auto found = exchange_node_map(*pmi_, node_identity(environment_.params),
                                 [&] { return fence({}, {}, deadline, {}); });
  if (!found) {
    return fail(std::move(found).error().within(
        "the process manager (" + pmi_->capabilities().server +
        ") does not say which rank is on which node, so every process of the job must make a communicator of "
        "more than itself, or none"));
  }
  wake();  // who sleeps on the doorbell of the lone segment goes on to the node's
  progress_thread_.disarm();
  NodeMap alone = std::exchange(nodes_, std::move(*found));
  auto seated = take_seat();
  if (seated) seated = attach_segment();
  if (!seated) {
    nodes_ = std::move(alone);
    if (auto back = take_seat(); !back) return back;
    return seated;
  }
  if (!fd_transports_.empty()) open_bell();
  return create_node_transports();
}

}  // namespace starling::mpi
