// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The node's segment as the memory that a bootstrap keeps tables in. Layer: mpi.
///
/// Threads:   under the runtime's lock.
/// Ownership: the segment outlives it. What is kept stays as long as the segment.

#include <cstring>

#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::mpi {

class SegmentStore final : public bootstrap::NodeStore {
 public:
  explicit SegmentStore(shm::NodeSegment& segment) : segment_(segment) {}

  Result<std::uint64_t> keep(const bootstrap::SharedBytes& bytes) override {
    auto place = segment_.allocate(bytes->size());
    if (place) std::memcpy(segment_.at(*place), bytes->data(), bytes->size());
    return place;
  }
  std::span<const std::byte> at(std::uint64_t place, std::size_t bytes) const override {
    return {segment_.at(place), bytes};
  }

 private:
  shm::NodeSegment& segment_;
};

}  // namespace starling::mpi
