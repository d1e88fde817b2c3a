// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Cartesian grids: ranks and coordinates. Layer: mpi. MPI 5.0 section 8.5. docs/design/topology.md
///
/// Ranks run through a grid in row-major order: the last coordinate changes fastest. A grid of no dimensions
/// has one process.
///
/// Threads:   a value; pure functions.
/// Ownership: owns its dimensions.
/// Errors:    none: callers pass ranks, dimensions and coordinates that exist, or get nothing where stated.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace starling::mpi::topology {

class Grid {
 public:
  /// `lengths` are positive and their product is an int.
  Grid(std::vector<int> lengths, std::vector<bool> periodic);

  [[nodiscard]] int dimensions() const noexcept { return static_cast<int>(lengths_.size()); }
  [[nodiscard]] int length(int dimension) const noexcept { return lengths_[index(dimension)]; }
  [[nodiscard]] bool periodic(int dimension) const noexcept { return periodic_[index(dimension)]; }
  /// Processes in the grid.
  [[nodiscard]] int size() const noexcept { return size_; }

  [[nodiscard]] std::vector<int> coordinates(int rank) const;
  /// The rank at these coordinates. In a periodic dimension they are wrapped; beyond another one there is no
  /// process. `coordinates` has at least dimensions() entries.
  [[nodiscard]] std::optional<int> rank_at(std::span<const int> coordinates) const noexcept;
  /// The rank that is `distance` further along a dimension.
  [[nodiscard]] std::optional<int> beyond(int rank, int dimension, std::int64_t distance) const noexcept;

  /// The slice of the grid in which a process lies when only some dimensions are kept.
  struct Slice;
  [[nodiscard]] Slice slice(int rank, const std::vector<bool>& kept) const;

 private:
  static std::size_t index(int dimension) noexcept { return static_cast<std::size_t>(dimension); }
  std::vector<int> lengths_;
  std::vector<bool> periodic_;
  std::vector<int> strides_;  ///< distance in rank between neighbours along each dimension
  int size_ = 1;
};

struct Grid::Slice {
  Grid grid;
  int number = 0;  ///< of this slice among all slices, 0..
  int rank = 0;    ///< of the process in the slice
};

/// Processes in a grid of these positive lengths; nothing if there are more than `most`.
[[nodiscard]] std::optional<int> volume(std::span<const int> lengths, int most) noexcept;

}  // namespace starling::mpi::topology
