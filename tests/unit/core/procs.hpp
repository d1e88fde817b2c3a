// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A plain list of processes of any worlds, for tests.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/proc_list.hpp"

namespace starling::test {

class Procs final : public ProcList {
 public:
  explicit Procs(std::vector<ProcId> procs) : procs_(std::move(procs)) {}
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(procs_.size()); }
  ProcId at(std::uint32_t index) const noexcept override { return procs_[index]; }
  std::optional<std::uint32_t> find(ProcId proc) const noexcept override {
    const auto found = std::find(procs_.begin(), procs_.end(), proc);
    if (found == procs_.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - procs_.begin());
  }
  bool consecutive() const noexcept override { return false; }

 private:
  std::vector<ProcId> procs_;
};

inline ProcListPtr procs(std::vector<ProcId> members) { return std::make_shared<Procs>(std::move(members)); }

}  // namespace starling::test
