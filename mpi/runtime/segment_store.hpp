// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The node's segment as the memory that a bootstrap keeps tables in. Layer: mpi.
///
/// Threads:   under the runtime's lock.
/// Ownership: the pointer outlives it; it is asked each time, since a process that was alone moves to the
///            segment of its node before there is anything to keep. What is kept stays as long as the
///            segment.

#include <cstring>
#include <memory>

#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::mpi {

class SegmentStore final : public bootstrap::NodeStore {
 public:
  explicit SegmentStore(const std::unique_ptr<shm::NodeSegment>& segment) : segment_(segment) {}

  Result<std::uint64_t> keep(const bootstrap::SharedBytes& bytes) override {
    auto place = segment_->allocate(bytes->size());
    if (place) std::memcpy(segment_->at(*place), bytes->data(), bytes->size());
    return place;
  }
  std::span<const std::byte> at(std::uint64_t place, std::size_t bytes) const override {
    return {segment_->at(place), bytes};
  }

 private:
  const std::unique_ptr<shm::NodeSegment>& segment_;
};

}  // namespace starling::mpi
