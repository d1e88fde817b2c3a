// SPDX-License-Identifier: BSD-3-Clause
// What a communicator holds from its beginning to its end: its name for others, its channels. Layer: mpi.

#include "mpi/comm/comm.hpp"

#include "mpi/runtime/runtime.hpp"
#include "mpi/session/session.hpp"

namespace starling::mpi {

Comm::Comm(ContextIds ids, Ref<Group> local, Ref<Group> remote, std::uint32_t rank)
    : ids_(std::move(ids)),
      local_(std::move(local)),
      remote_(std::move(remote)),
      rank_(rank),
      size_(local_->size()),
      peer_count_(remote_ ? remote_->size() : size_) {
  make_known();
}

Comm::~Comm() {
  forget();
  if (Runtime* const runtime = Runtime::get(); runtime != nullptr) {
    if (context_ != nullptr) runtime->pml().close(context_);
    if (collective_ != nullptr) runtime->pml().close(collective_);
    if (partitioned_ != nullptr) runtime->pml().close(partitioned_);
  }
}

Result<pml::Context*> Comm::partitioned_context() {
  if (partitioned_ != nullptr) return partitioned_;
  const Ref<Group>& peers = remote_ ? remote_ : local_;
  auto opened = Runtime::get()->pml().open(ids_.on(Channel::partitioned),
                                           Rank{static_cast<std::int32_t>(rank_)}, peers->members());
  if (opened) partitioned_ = *opened;
  return opened;
}

std::int32_t Comm::take_partition_tags(std::uint32_t count) noexcept {
  constexpr std::uint32_t kTags = 0x7ffffff0u;               // from -16 down; -1 and -2 are wildcards
  if (partition_tags_ + count > kTags) partition_tags_ = 0;  // the first ones have long been done with
  const auto first = -16 - static_cast<std::int32_t>(partition_tags_);
  partition_tags_ += count;
  return first;
}

}  // namespace starling::mpi
