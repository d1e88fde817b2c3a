// SPDX-License-Identifier: BSD-3-Clause
// mpiexec's side of the nodes' shared segments. Layer: tools. See docs/design/shared-memory.md.

#include "tools/mpiexec/node_memory.hpp"

#include <algorithm>
#include <cstring>

#include "frameworks/shm/ends.hpp"

namespace starling::mpiexec {

using shm::NodeSegment;
using shm::ProcSlot;
using shm::ProcState;

Result<NodeMemory::Node> NodeMemory::make(const shm::Geometry& geometry, const std::string& job) {
  auto fd = shm::create_memfd("starling", geometry, shm::job_nonce(job));
  if (!fd) return fail(std::move(fd).error());
  Node node;
  node.fd = fd->get();
  auto mapping = Mapping::map(fd->get(), geometry.total_bytes());
  if (!mapping) return fail(std::move(mapping).error());
  auto segment = NodeSegment::open(shm::Segment{std::move(*fd), std::move(*mapping), false}, geometry, 0);
  if (!segment) return fail(std::move(segment).error());
  node.segment.emplace(std::move(*segment));
  node.asked.resize(geometry.local_size);
  return node;
}

NodeMemory::NodeMemory(const params::Registry& params, const std::string& job, const JobLayout& layout) {
  for (const std::uint32_t local_size : layout.local_size) {
    auto node = make(shm::geometry_from(params, std::max(local_size, 1u)), job);
    if (!node) {
      reason_ = node.error().text();
      nodes_.emplace_back();
    } else {
      nodes_.push_back(std::move(*node));
    }
  }
}

int NodeMemory::fd(std::uint32_t node) const noexcept { return nodes_[node].fd; }

void NodeMemory::tell_others(std::uint32_t rank, std::uint32_t node) noexcept {
  for (std::uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other != node && nodes_[other].segment) nodes_[other].segment->tell_far_death(rank);
  }
}

void NodeMemory::mark_exited(std::uint32_t rank, std::uint32_t node, std::uint32_t local_rank,
                             bool left) noexcept {
  constexpr std::uint64_t kLeastNs = 10'000'000, kForRankNs = 20'000;
  if (!nodes_[node].segment) return;
  NodeSegment& segment = *nodes_[node].segment;
  const auto state = segment.slot(local_rank).state.load(std::memory_order_acquire);
  if (!shm::mark_left_ended(segment, local_rank)) {
    segment.mark_ended(local_rank);
    if (!left || state != static_cast<std::uint32_t>(ProcState::absent)) tell_others(rank, node);
    return;
  }
  nodes_[node].to_tell = true;
  if (tell_.never()) tell_ = Deadline::after_ns(std::max(kLeastNs, kForRankNs * segment.local_size()));
}

void NodeMemory::tell_ends() noexcept {
  for (Node& node : nodes_) {
    if (node.to_tell) shm::tell_ends(*node.segment);
    node.to_tell = false;
  }
  tell_ = Deadline{};
}

void NodeMemory::ask(std::uint32_t node) noexcept {
  if (!nodes_[node].segment) return;
  NodeSegment& segment = *nodes_[node].segment;
  for (std::uint32_t i = 0; i < segment.local_size(); ++i) {
    nodes_[node].asked[i] = segment.slot(i).report_wanted.fetch_add(1, std::memory_order_acq_rel) + 1;
    segment.ring(i);
  }
}

std::optional<std::string> NodeMemory::answer(std::uint32_t node, std::uint32_t local_rank) {
  if (!nodes_[node].segment) return std::nullopt;
  const ProcSlot& slot = nodes_[node].segment->slot(local_rank);
  if (slot.state.load(std::memory_order_acquire) != static_cast<std::uint32_t>(ProcState::attached))
    return std::nullopt;
  if (slot.report_done.load(std::memory_order_acquire) != nodes_[node].asked[local_rank]) {
    return "computing (it has not called MPI since it was asked)";
  }
  const std::size_t length = ::strnlen(slot.waiting, sizeof slot.waiting);
  return std::string(slot.waiting, length);
}

}  // namespace starling::mpiexec
