// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Who needs progress while the program computes, and why. Layer: mpi. docs/design/waiting.md
///
/// Threads:   under the runtime's lock.
/// Ownership: a ProgressNeed belongs to who needs it (a window); it ends with its object.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace starling::mpi {

class BackgroundProgress;

/// As long as it lives, something of this process must advance although the program is not in MPI.
class ProgressNeed {
 public:
  ProgressNeed() = default;
  ProgressNeed(ProgressNeed&& other) noexcept
      : progress_(std::exchange(other.progress_, nullptr)), id_(other.id_) {}
  ProgressNeed& operator=(ProgressNeed&& other) noexcept {
    std::swap(progress_, other.progress_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~ProgressNeed();

 private:
  friend class BackgroundProgress;
  ProgressNeed(BackgroundProgress& progress, std::uint64_t id) noexcept : progress_(&progress), id_(id) {}

  BackgroundProgress* progress_ = nullptr;
  std::uint64_t id_ = 0;
};

/// The reasons of all needs, oldest first.
class ProgressNeeds {
 public:
  [[nodiscard]] std::uint64_t add(std::string why);
  void drop(std::uint64_t id) noexcept;
  [[nodiscard]] bool empty() const noexcept { return needs_.empty(); }
  /// Each reason once: "window 'ocean' has passive targets (2 times)".
  [[nodiscard]] std::vector<std::string> reasons() const;

 private:
  struct Need {
    std::uint64_t id;
    std::string why;
  };
  std::vector<Need> needs_;
  std::uint64_t last_id_ = 0;
};

}  // namespace starling::mpi
