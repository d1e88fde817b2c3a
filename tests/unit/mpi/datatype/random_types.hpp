// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Random nested datatypes together with their models. Layer: test.

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/mpi/datatype/model.hpp"

namespace starling::mpi {

/// A predefined type by its handle.
[[nodiscard]] inline const Datatype& type_of(HandleBits handle) { return *predefined_datatype(handle); }

struct Pair {
  Ref<Datatype> real;
  model::Type model;
};

class RandomTypes {
 public:
  explicit RandomTypes(unsigned seed) : random_(seed) {}

  std::int64_t number(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(to - from + 1));
  }
  std::mt19937& engine() { return random_; }

  Pair basic() {
    static constexpr HandleBits kSome[] = {0x247, 0x209, 0x214, 0x220, 0x248,
                                           0x228, 0x22c, 0x22d, 0x216, 0x2e1};
    Datatype* const type = predefined_datatype(kSome[random_() % std::size(kSome)]);
    return {Ref<Datatype>::share(type), model::basic(*type)};
  }

  Pair type(int depth) {
    if (depth == 0) return basic();
    Pair made = derived(depth);
    // Deep random types explode; beyond this size they only cost time.
    return made.model.entries.size() <= 1000 ? made : basic();
  }

 private:
  std::vector<std::int64_t> numbers(std::size_t count, std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> drawn(count);
    for (std::int64_t& value : drawn) value = number(from, to);
    return drawn;
  }
  static Ref<Datatype> made(NewType type) {
    EXPECT_TRUE(type.has_value()) << (type ? "" : type.error().text());
    return std::move(type).value();
  }

  Pair derived(int depth) {
    const Pair old = type(depth - 1);
    switch (number(0, 10)) {
      case 0: {
        const auto n = number(0, 5);
        return {made(make_contiguous(n, *old.real)), model::hvector(n, 1, old.model.extent(), old.model)};
      }
      case 1: {
        const auto n = number(0, 5), length = number(0, 4), stride = number(-6, 6);
        return {made(make_vector(n, length, stride, *old.real)),
                model::hvector(n, length, stride * old.model.extent(), old.model)};
      }
      case 2: {
        const auto n = number(0, 5), length = number(0, 4), stride = number(-90, 90);
        return {made(make_hvector(n, length, stride, *old.real)),
                model::hvector(n, length, stride, old.model)};
      }
      case 3: return indexed(old, true);
      case 4: return indexed(old, false);
      case 5: return indexed_block(old, true);
      case 6: return indexed_block(old, false);
      case 7: return structure(old, depth);
      case 8: {
        const auto lb = number(-40, 40), extent = number(-10, 200);
        return {made(make_resized(lb, extent, *old.real)), model::resized(lb, extent, old.model)};
      }
      case 9: return subarray(old);
      default: return darray(old);
    }
  }

  Pair indexed(const Pair& old, bool elements) {
    const auto n = static_cast<std::size_t>(number(0, 6));
    const auto lengths = numbers(n, 0, 4);
    auto at = numbers(n, elements ? -8 : -150, elements ? 8 : 150);
    if (random_() % 2 == 0) std::sort(at.begin(), at.end());
    auto bytes = at;
    for (auto& value : bytes) value *= elements ? old.model.extent() : 1;
    return {made(elements ? make_indexed(lengths, at, *old.real) : make_hindexed(lengths, at, *old.real)),
            model::hindexed(lengths, bytes, old.model)};
  }

  Pair indexed_block(const Pair& old, bool elements) {
    const auto n = static_cast<std::size_t>(number(0, 6));
    const auto length = number(0, 4);
    const auto at = numbers(n, elements ? -8 : -150, elements ? 8 : 150);
    auto bytes = at;
    for (auto& value : bytes) value *= elements ? old.model.extent() : 1;
    return {made(elements ? make_indexed_block(length, at, *old.real)
                          : make_hindexed_block(length, at, *old.real)),
            model::hindexed(std::vector<std::int64_t>(n, length), bytes, old.model)};
  }

  Pair structure(const Pair& first, int depth) {
    std::vector<Pair> parts{first};
    while (parts.size() < static_cast<std::size_t>(number(1, 4)))
      parts.push_back(type(static_cast<int>(number(0, depth - 1))));
    const auto lengths = numbers(parts.size(), 0, 3);
    const auto at = numbers(parts.size(), -100, 300);
    std::vector<const Datatype*> real;
    std::vector<model::Type> models;
    for (const Pair& part : parts) {
      real.push_back(part.real.get());
      models.push_back(part.model);
    }
    return {made(make_struct(lengths, at, real)), model::structure(lengths, at, models)};
  }

  Pair subarray(const Pair& old) {
    const auto dimensions = static_cast<std::size_t>(number(1, 4));
    const auto order = random_() % 2 == 0 ? ArrayOrder::c : ArrayOrder::fortran;
    const auto sizes = numbers(dimensions, 1, 5);
    std::vector<std::int64_t> parts, starts;
    for (std::int64_t size : sizes) {
      parts.push_back(number(1, size));
      starts.push_back(number(0, size - parts.back()));
    }
    return {made(make_subarray(sizes, parts, starts, order, *old.real)),
            model::array_part(sizes, order, old.model, [&](std::size_t d, std::int64_t index) {
              return index >= starts[d] && index < starts[d] + parts[d];
            })};
  }

  Pair darray(const Pair& old) {
    std::vector<DarrayDimension> grid(static_cast<std::size_t>(number(1, 3)));
    std::vector<std::int64_t> sizes, coordinates;
    std::int64_t processes = 1, rank = 0;
    for (DarrayDimension& d : grid) {
      d.size = number(1, 7);
      d.distribution = static_cast<Distribution>(number(16, 18));
      d.processes = d.distribution == Distribution::none ? 1 : number(1, 4);
      if (random_() % 2 == 0 && d.distribution == Distribution::cyclic) d.argument = number(1, 4);
      if (random_() % 2 == 0 && d.distribution == Distribution::block) {
        d.argument = (d.size + d.processes - 1) / d.processes + number(0, 2);
      }
      sizes.push_back(d.size);
      coordinates.push_back(number(0, d.processes - 1));
      processes *= d.processes;
      rank = rank * d.processes + coordinates.back();
    }
    const auto order = random_() % 2 == 0 ? ArrayOrder::c : ArrayOrder::fortran;
    return {made(make_darray(processes, rank, grid, order, *old.real)),
            model::array_part(sizes, order, old.model, [&](std::size_t i, std::int64_t index) {
              const DarrayDimension& d = grid[i];
              if (d.distribution == Distribution::none) return true;
              std::int64_t block = d.argument;
              if (block == kDefaultDistributionArgument) {
                block = d.distribution == Distribution::block ? (d.size + d.processes - 1) / d.processes : 1;
              }
              return index / block % d.processes == coordinates[i];
            })};
  }

  std::mt19937 random_;
};

}  // namespace starling::mpi
