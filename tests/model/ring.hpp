// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A lane's memory for models: header words that are atomics, and one checked variable of payload per
/// cell. Layer: tests.

#include "plugins/btl/shm/lane.hpp"
#include "tests/model/model.hpp"

namespace starling::model {

struct RingMemory {
  static constexpr std::uint32_t kMost = 12;
  ModelAtomic<std::uint64_t> heads[kMost];
  ModelAtomic<std::uint64_t> consumed;
  ModelAtomic<std::uint32_t> wanted;
  rl::var<unsigned> payload[kMost];
};

class ModelRing {
 public:
  static constexpr std::uint32_t kLongCells = 2;

  ModelRing() = default;
  ModelRing(RingMemory& memory, std::uint32_t cells) : memory_(&memory), cells_(cells) {}
  std::uint32_t cells() const { return cells_; }
  ModelAtomic<std::uint64_t>& head(std::uint32_t i) const { return memory_->heads[i]; }
  ModelAtomic<std::uint64_t>& consumed() const { return memory_->consumed; }
  ModelAtomic<std::uint32_t>& wanted() const { return memory_->wanted; }
  RingMemory& memory() const { return *memory_; }

  /// Fills a record; its inner cells get bytes that look like a header.
  void write(std::uint32_t cell, std::uint32_t cells, unsigned value) const {
    for (std::uint32_t i = 0; i < cells; ++i) {
      memory_->payload[cell + i]($) = value + i;
      if (i != 0)
        memory_->heads[cell + i].store(btl::record_header(btl::RecordKind::data, 77),
                                       std::memory_order_relaxed);
    }
  }
  void verify(std::uint32_t cell, std::uint32_t cells, unsigned value) const {
    for (std::uint32_t i = 0; i < cells; ++i) check(memory_->payload[cell + i]($) == value + i);
  }

 private:
  RingMemory* memory_ = nullptr;
  std::uint32_t cells_ = 0;
};

using ModelWriter = btl::LaneWriter<ModelAtomics, ModelRing>;
using ModelReader = btl::LaneReader<ModelAtomics, ModelRing>;

}  // namespace starling::model
