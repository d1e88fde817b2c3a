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

 private:
  std::vector<std::uint32_t> ranks_;
};

inline ProcListPtr list(std::vector<std::uint32_t> ranks) { return std::make_shared<List>(std::move(ranks)); }

}  // namespace starling::test
