// SPDX-License-Identifier: BSD-3-Clause
/// @file  Ranks and coordinates of grids. docs/design/topology.md

#include "mpi/topology/grid.hpp"

#include "core/expects.hpp"

namespace starling::mpi::topology {
namespace {

/// The coordinate in 0..length-1, or nothing outside a dimension that ends.
std::optional<int> inside(std::int64_t coordinate, int length, bool periodic) noexcept {
  if (coordinate >= 0 && coordinate < length) return static_cast<int>(coordinate);
  if (!periodic) return std::nullopt;
  const std::int64_t rest = coordinate % length;
  return static_cast<int>(rest < 0 ? rest + length : rest);
}

}  // namespace

Grid::Grid(std::vector<int> lengths, std::vector<bool> periodic)
    : lengths_(std::move(lengths)), periodic_(std::move(periodic)), strides_(lengths_.size()) {
  expects(lengths_.size() == periodic_.size(),
          "a grid needs to know of each dimension whether it is periodic");
  for (std::size_t d = lengths_.size(); d-- > 0;) {
    strides_[d] = size_;
    size_ *= lengths_[d];
  }
}

std::vector<int> Grid::coordinates(int rank) const {
  std::vector<int> result;
  result.reserve(lengths_.size());
  for (std::size_t d = 0; d < lengths_.size(); ++d) result.push_back(rank / strides_[d] % lengths_[d]);
  return result;
}

std::optional<int> Grid::rank_at(std::span<const int> coordinates) const noexcept {
  int rank = 0;
  for (std::size_t d = 0; d < lengths_.size(); ++d) {
    const std::optional<int> at = inside(coordinates[d], lengths_[d], periodic_[d]);
    if (!at) return std::nullopt;
    rank += *at * strides_[d];
  }
  return rank;
}

std::optional<int> Grid::beyond(int rank, int dimension, std::int64_t distance) const noexcept {
  const int stride = strides_[index(dimension)];
  const int here = rank / stride % length(dimension);
  const std::optional<int> there = inside(here + distance, length(dimension), periodic(dimension));
  if (!there) return std::nullopt;
  return rank + (*there - here) * stride;
}

Grid::Slice Grid::slice(int rank, const std::vector<bool>& kept) const {
  std::vector<int> lengths;
  std::vector<bool> periodic;
  int number = 0, inner = 0;
  const std::vector<int> here = coordinates(rank);
  for (std::size_t d = 0; d < lengths_.size(); ++d) {
    int& position = kept[d] ? inner : number;
    position = position * lengths_[d] + here[d];
    if (!kept[d]) continue;
    lengths.push_back(lengths_[d]);
    periodic.push_back(periodic_[d]);
  }
  return {Grid(std::move(lengths), std::move(periodic)), number, inner};
}

std::optional<int> volume(std::span<const int> lengths, int most) noexcept {
  std::int64_t product = 1;
  for (const int length : lengths) {
    product *= length;
    if (product > most) return std::nullopt;
  }
  return static_cast<int>(product);
}

}  // namespace starling::mpi::topology
