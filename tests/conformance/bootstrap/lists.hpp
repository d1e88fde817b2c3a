// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A plain list of processes for tests.

#include <algorithm>
#include <memory>
#include <vector>

#include "core/proc_list.hpp"

namespace starling::test {

class List final : public ProcList {
 public:
  explicit List(std::vector<std::uint32_t> ranks) : ranks_(std::move(ranks)) {}
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(ranks_.size()); }
  ProcId at(std::uint32_t index) const noexcept override { return ProcId{0, ranks_[index]}; }
  std::optional<std::uint32_t> find(ProcId proc) const noexcept override {
    const auto found = std::find(ranks_.begin(), ranks_.end(), proc.rank);
    if (found == ranks_.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - ranks_.begin());
  }
  bool consecutive() const noexcept override { return false; }

 private:
  std::vector<std::uint32_t> ranks_;
};

/// Ranks first, first + 1, ...
class Run final : public ProcList {
 public:
  Run(std::uint32_t first, std::uint32_t size) : first_(first), size_(size) {}
  std::uint32_t size() const noexcept override { return size_; }
  ProcId at(std::uint32_t index) const noexcept override { return ProcId{0, first_ + index}; }
  std::optional<std::uint32_t> find(ProcId proc) const noexcept override {
    if (proc.world != 0 || proc.rank < first_ || proc.rank - first_ >= size_) return std::nullopt;
    return proc.rank - first_;
  }
  bool consecutive() const noexcept override { return true; }

 private:
  std::uint32_t first_, size_;
};

inline ProcListPtr run(std::uint32_t first, std::uint32_t size) { return std::make_shared<Run>(first, size); }

inline ProcListPtr list(std::vector<std::uint32_t> ranks) { return std::make_shared<List>(std::move(ranks)); }

}  // namespace starling::test
