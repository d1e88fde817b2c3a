// SPDX-License-Identifier: BSD-3-Clause
// Where this process is: its node, its seat there, the node's segment. What is hard: the process may move
// from being alone to its node while other threads sleep in MPI, on what it had before. Layer: mpi. See
// docs/design/startup.md.

#include "mpi/runtime/place.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "core/log.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "frameworks/shm/attach.hpp"
#include "mpi/runtime/cores.hpp"

namespace starling::mpi {

Place::Place(Environment& environment, pmi::Component& pmi)
    : environment_(environment),
      pmi_(pmi),
      self_{Worlds::kOwn, pmi.identity().rank},
      worlds_({{pmi.capabilities().server, pmi.identity().job}, pmi.identity().size, {}}),
      world_size_(pmi.identity().size) {}

Result<void> Place::find() {
  NodeMap& nodes = worlds_.own().nodes;
  nodes = pmi_.identity().nodes;
  if (nodes.unknown() && world_size_ > 1) {
    nodes = NodeMap(std::vector<NodeMap::Block>{{0, world_size_, 1}});
    alone_ = true;
  }
  return take_seat();
}

Result<void> Place::take_seat() {
  const pmi::Identity& identity = pmi_.identity();
  if (world_size_ == 1) {
    node_ranks_ = {identity.rank};
  } else {
    node_ranks_ = nodes().ranks_on(nodes().node_of(identity.rank), world_size_);
  }
  const auto own = std::lower_bound(node_ranks_.begin(), node_ranks_.end(), self_.rank);
  if (own == node_ranks_.end() || *own != self_.rank) {
    return fail(
        Errc::bad_input, "place on the node",
        "the process mapping " + nodes().text() + " does not contain rank " + std::to_string(self_.rank));
  }
  local_rank_ = static_cast<std::uint32_t>(own - node_ranks_.begin());

  crowded_ = node_ranks_.size() > cores_of_job();
  return {};
}

Result<void> Place::attach() {
  const auto local_size = static_cast<std::uint32_t>(node_ranks_.size());
  const shm::Geometry geometry = shm::geometry_from(environment_.params, local_size);
  shm::SegmentSpec spec;
  spec.job = pmi_.identity().job;
  spec.node = world_size_ == 1 ? 0 : to_int(nodes().node_of(self_.rank));
  spec.local_rank = local_rank_;
  spec.local_size = local_size;
  spec.bytes = geometry.total_bytes();
  const auto seconds = static_cast<std::uint64_t>(environment_.params.integer(bootstrap::kTimeout));
  auto attached = alone_ ? lone_segment(spec) : choose_segment(spec, Deadline::after_seconds(seconds));
  if (!attached) return fail(std::move(attached).error());
  for (const std::string& reason : attached->refused) log::info("shared memory: not used: " + reason);
  log::info("shared memory: " + attached->how);
  shared_memory_ = std::move(attached->how);
  shared_memory_refused_ = std::move(attached->refused);
  const bool may_be_looked_for = !attached->segment.inherited;
  auto opened = shm::NodeSegment::open(std::move(attached->segment), geometry, local_rank_);
  if (!opened) return fail(std::move(opened).error());
  lone_segment_ = std::exchange(segment_, std::make_unique<shm::NodeSegment>(std::move(*opened)));
  segment_->enter();
  segment_segment_server_ = std::move(attached->segment_server);
  if (may_be_looked_for) open_launchers_segment(spec, geometry);
  // The last to attach ends the looking: names go, segment servers stop.
  if (may_be_looked_for && everybody_attached()) segment_complete();
  return {};
}

/// Without it everything works but that deaths on other nodes are not told.
void Place::open_launchers_segment(const shm::SegmentSpec& spec, const shm::Geometry& geometry) {
  if (launchers_segment_ != nullptr || node_ranks_.size() == world_size_) return;
  const auto fd = shm::inherited_descriptor();
  if (!fd || *fd < 0) return;
  auto segment = shm::inherited_segment(*fd, spec, Deadline::after_ns(0));
  if (!segment) return log::info("the launcher's segment: not used: " + segment.error().text());
  auto opened = shm::NodeSegment::open(std::move(*segment), geometry, local_rank_);
  if (opened) launchers_segment_ = std::make_unique<shm::NodeSegment>(std::move(*opened));
}

/// Not by the node's name: others may be making the node's own segment under it.
Result<shm::Attached> Place::lone_segment(const shm::SegmentSpec& spec) {
  auto segment = shm::private_segment(environment_.params, spec);
  if (!segment) return fail(std::move(segment).error());
  return shm::Attached{std::move(*segment), 0, nullptr, "of this process alone so far", {}};
}

Result<shm::Attached> Place::choose_segment(const shm::SegmentSpec& spec, Deadline deadline) {
  auto candidates = environment_.plugins.admitted(shm::Framework::kName.view());
  if (!candidates) return fail(std::move(candidates).error());
  std::vector<plugin::Index::Handle<shm::Framework>> components;
  std::vector<shm::Candidate> offered;
  std::string reasons;
  bool ordered = false;
  for (const plugin::Candidate* const candidate : *candidates) {
    ordered |= environment_.plugins.named_by_user(*candidate);
    auto made = environment_.plugins.create<shm::Framework>(*candidate, {environment_.params});
    if (made) {
      offered.push_back({candidate->name, made->get()});
      if (auto inherited = shm::take_inherited(offered.back(), spec, deadline)) {
        shm_ = std::move(*made);
        return std::move(*inherited);
      }
      components.push_back(std::move(*made));
    } else {
      reasons += "\n  " + made.error().text();
      if (made.error().code == Errc::bad_input) break;  // others of this node may see it otherwise
    }
  }
  if (offered.empty()) return fail(Errc::not_found, "shm", "no component can be used:" + reasons);
  auto attached = shm::attach_node_segment(offered, spec, ordered, deadline);
  if (attached) shm_ = std::move(components[attached->candidate]);
  return attached;
}

std::string Place::meeting_place() const {
  const auto candidates = environment_.plugins.admitted(shm::Framework::kName.view());
  if (!candidates) return {};  // attach() will say why
  for (const plugin::Candidate* const candidate : *candidates) {
    const auto made = environment_.plugins.create<shm::Framework>(*candidate, {environment_.params});
    if (!made) continue;
    if (std::string place = (*made)->meeting_place(); !place.empty()) return place;
  }
  return {};
}

void Place::segment_complete() noexcept {
  if (shm_ != nullptr) shm_->all_attached();
  if (segment_segment_server_ != nullptr) segment_segment_server_->end();
}

bool Place::is_absent(std::uint32_t local_rank) const noexcept {
  const auto state = segment_->slot(local_rank).state.load(std::memory_order_acquire);
  return state == static_cast<std::uint32_t>(shm::ProcState::absent);
}

bool Place::everybody_attached() noexcept {
  // Between the own state and the look at the others': of several that are last at once, one sees all.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t rank = 0; rank < segment_->local_size(); ++rank) {
    if (is_absent(rank)) return false;
  }
  return true;
}

Result<void> Place::move(NodeMap nodes) {
  NodeMap before = std::exchange(worlds_.own().nodes, std::move(nodes));
  alone_ = false;
  auto moved = take_seat();
  if (moved) moved = attach();
  if (moved) return {};
  alone_ = true;
  worlds_.own().nodes = std::move(before);
  if (auto back = take_seat(); !back) return back;
  return moved;
}

bool Place::on_node(ProcId proc) const noexcept {
  return proc.world == self_.world && std::binary_search(node_ranks_.begin(), node_ranks_.end(), proc.rank);
}

bool Place::is_dead(std::uint32_t local_rank) const noexcept {
  const std::uint32_t state = segment_->slot(local_rank).state.load(std::memory_order_acquire);
  return state == static_cast<std::uint32_t>(shm::ProcState::exited);
}

std::optional<ProcId> Place::dead_among(const ProcList& members) const noexcept {
  if (segment_->deaths() == 0) return std::nullopt;
  for (std::uint32_t local = 0; local < segment_->local_size(); ++local) {
    const ProcId proc{self_.world, node_ranks_[local]};
    if (is_dead(local) && members.find(proc)) return proc;
  }
  return std::nullopt;
}

std::vector<ProcId> Place::all_dead_among(const ProcList& members) const {
  std::vector<ProcId> dead;
  for (std::uint32_t local = 0; segment_->deaths() != 0 && local < segment_->local_size(); ++local) {
    const ProcId proc{self_.world, node_ranks_[local]};
    if (is_dead(local) && members.find(proc)) dead.push_back(proc);
  }
  return dead;
}

// A process that shares no memory with this one, although on the same node, cannot be told from one that
// has not come yet: both are named as possible causes.
std::string Place::absent_processes() const {
  std::uint32_t absent = 0;
  for (std::uint32_t rank = 0; rank < segment_->local_size(); ++rank) absent += is_absent(rank) ? 1 : 0;
  if (absent == 0) return {};
  return std::to_string(absent) + " of " + std::to_string(segment_->local_size()) +
         " processes of this node have not attached to its shared memory (" + shared_memory_ +
         "): they have not initialised MPI, or run as another user, or are in another container. Containers "
         "of one node need the host's /dev/shm mounted in each, or its network namespace and shm=memfd";
}

void Place::drop_names() noexcept {
  segment_segment_server_.reset();
  shm_.reset();
}

void Place::close() noexcept {
  if (segment_ != nullptr) segment_->leave();
  segment_.reset();
  drop_names();
}

}  // namespace starling::mpi
