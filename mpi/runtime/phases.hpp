// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How long each part of start-up took, for the report. Layer: mpi.
///
/// Threads: under the runtime's lock. Units: nanoseconds.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/clock.hpp"

namespace starling::mpi {

struct Phase {
  const char* name;
  std::uint64_t ns;
};

class Phases {
 public:
  /// What happens several times is one phase. `name` is kept, not copied.
  void add(const char* name, std::uint64_t ns) {
    const auto known = std::find_if(all_.begin(), all_.end(), [name](const Phase& phase) {
      return std::string_view(phase.name) == name;
    });
    if (known == all_.end()) {
      all_.push_back({name, ns});
    } else {
      known->ns += ns;
    }
  }
  /// Runs it and adds how long that took, also if it failed.
  template <class Run>
  auto time(const char* name, Run&& run) {
    const std::uint64_t begin = now_ns();
    auto result = run();
    add(name, now_ns() - begin);
    return result;
  }
  /// In the order in which they began to be known.
  [[nodiscard]] const std::vector<Phase>& all() const noexcept { return all_; }

 private:
  std::vector<Phase> all_;
};

}  // namespace starling::mpi
