// SPDX-License-Identifier: BSD-3-Clause
// Subarrays and distributed arrays (MPI 5.0 sections 5.1.3 and 5.1.4): one loop per dimension, built from the
// one that is adjacent in memory outwards; bounds are those of the whole array.
#include <algorithm>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/shape_builder.hpp"

namespace starling::mpi {
namespace {

using Sort = Contents::Sort;

std::string at_index(const char* what, std::size_t index, std::int64_t value, const std::string& expected) {
  return std::string(what) + "[" + std::to_string(index) + "] is " + std::to_string(value) + ", expected " +
         expected;
}

/// A part of an array while its dimensions are added.
struct Part {
  Int128 displacement = 0;
  Int128 step = 0;  ///< bytes from one index to the next in the dimension at hand
  NodePtr node;

  Result<void> loop(std::int64_t count, Int128 stride) {
    if (!fits_63_bits(stride)) return too_large_error();
    auto looped = make_loop(count, static_cast<std::int64_t>(stride), node);
    if (!looped) return fail(std::move(looped).error());
    node = std::move(*looped);
    return {};
  }
  /// The dimension has `size` indices; what follows is the next outer dimension.
  Result<void> close(std::int64_t size) {
    step *= size;
    if (!fits_63_bits(step) || !fits_63_bits(displacement)) return too_large_error();
    return {};
  }
};

/// The dimension that comes `nth` when going from the innermost one outwards.
std::size_t dimension(std::size_t nth, std::size_t dimensions, ArrayOrder order) {
  return order == ArrayOrder::fortran ? nth : dimensions - 1 - nth;
}

Result<void> check_subarray(Int64s sizes, Int64s subsizes, Int64s starts) {
  if (sizes.empty()) return type_error("ndims is 0, expected > 0");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1) return type_error(at_index("array_of_sizes", i, sizes[i], "> 0"));
    if (subsizes[i] < 1 || subsizes[i] > sizes[i]) {
      return type_error(at_index("array_of_subsizes", i, subsizes[i], "1.." + std::to_string(sizes[i])));
    }
    if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i]) {
      return type_error(
          at_index("array_of_starts", i, starts[i], "0.." + std::to_string(sizes[i] - subsizes[i])));
    }
  }
  return {};
}

Result<void> check_darray(std::int64_t processes, std::int64_t rank,
                          std::span<const DarrayDimension> dimensions) {
  if (dimensions.empty()) return type_error("ndims is 0, expected > 0");
  Int128 product = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const DarrayDimension& d = dimensions[i];
    if (d.size < 1) return type_error(at_index("array_of_gsizes", i, d.size, "> 0"));
    if (d.processes < 1) return type_error(at_index("array_of_psizes", i, d.processes, "> 0"));
    if (d.distribution == Distribution::none && d.processes != 1) {
      return type_error(at_index("array_of_psizes", i, d.processes, "1 with MPI_DISTRIBUTE_NONE"));
    }
    if (d.argument < 1)
      return type_error(at_index("array_of_dargs", i, d.argument, "> 0 or MPI_DISTRIBUTE_DFLT_DARG"));
    if (d.distribution == Distribution::block && d.argument != kDefaultDistributionArgument &&
        Int128{d.argument} * d.processes < d.size) {
      return type_error(at_index("array_of_dargs", i, d.argument,
                                 "blocks that cover the dimension: argument * processes >= size"));
    }
    product *= d.processes;
    if (!fits_63_bits(product)) return too_large_error();
  }
  if (product != processes)
    return type_error("size is " + std::to_string(processes) + ", expected the product of array_of_psizes");
  if (rank < 0 || rank >= processes) {
    return type_error("rank is " + std::to_string(rank) + ", expected 0.." + std::to_string(processes - 1));
  }
  return {};
}

/// Adds the blocks that the process with this coordinate holds in one dimension.
Result<void> distribute(Part& part, const DarrayDimension& d, std::int64_t coordinate) {
  std::int64_t block = d.size;
  if (d.distribution == Distribution::block) {
    block =
        d.argument == kDefaultDistributionArgument ? (d.size + d.processes - 1) / d.processes : d.argument;
  } else if (d.distribution == Distribution::cyclic) {
    block = d.argument == kDefaultDistributionArgument ? 1 : d.argument;
  }
  block = std::min(block, d.size);
  const Int128 start = Int128{coordinate} * block;
  if (start >= d.size) {
    part.node = make_empty();
    return {};
  }
  part.displacement += start * part.step;
  const std::int64_t left = d.size - static_cast<std::int64_t>(start);
  if (d.distribution != Distribution::cyclic) return part.loop(std::min(block, left), part.step);

  const Int128 period = Int128{block} * d.processes;
  const auto whole = static_cast<std::int64_t>(left < block ? 0 : (left - block) / period + 1);
  const Int128 rest = std::max(Int128{0}, std::min(Int128{block}, left - whole * period));
  Part tail = part;
  if (auto ok = part.loop(block, part.step); !ok) return ok;
  if (auto ok = part.loop(whole, whole > 1 ? period * part.step : 0); !ok) return ok;
  if (rest == 0) return {};
  if (auto ok = tail.loop(static_cast<std::int64_t>(rest), tail.step); !ok) return ok;
  const Int128 tail_at = Int128{whole} * period * part.step;
  if (!fits_63_bits(tail_at)) return too_large_error();
  auto both = make_list({{0, part.node}, {static_cast<std::int64_t>(tail_at), tail.node}});
  if (!both) return fail(std::move(both).error());
  part.node = std::move(*both);
  return {};
}

std::vector<Contents::Argument> darray_arguments(std::int64_t processes, std::int64_t rank,
                                                 std::span<const DarrayDimension> dimensions,
                                                 ArrayOrder order) {
  const auto each = [&](auto&& get) {
    std::vector<std::int64_t> values;
    for (const DarrayDimension& d : dimensions) values.push_back(get(d));
    return values;
  };
  return {{Sort::integer, {processes, rank, static_cast<std::int64_t>(dimensions.size())}},
          {Sort::count, each([](const DarrayDimension& d) { return d.size; })},
          {Sort::integer,
           each([](const DarrayDimension& d) { return static_cast<std::int64_t>(d.distribution); })},
          {Sort::integer, each([](const DarrayDimension& d) { return d.argument; })},
          {Sort::integer, each([](const DarrayDimension& d) { return d.processes; })},
          {Sort::integer, {static_cast<std::int64_t>(order)}}};
}

}  // namespace

NewType make_subarray(Int64s sizes, Int64s subsizes, Int64s starts, ArrayOrder order, const Datatype& old) {
  if (auto ok = check_subarray(sizes, subsizes, starts); !ok) return fail(std::move(ok).error());
  ShapeBuilder builder(Combiner::subarray, {{Sort::integer, {static_cast<std::int64_t>(sizes.size())}},
                                            {Sort::count, {sizes.begin(), sizes.end()}},
                                            {Sort::count, {subsizes.begin(), subsizes.end()}},
                                            {Sort::count, {starts.begin(), starts.end()}},
                                            {Sort::integer, {static_cast<std::int64_t>(order)}}});
  builder.refer(old);
  builder.cover(0, 1, old);
  Part part{old.shape()->map.displacement, old.extent(), old.shape()->map.node};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t d = dimension(i, sizes.size(), order);
    part.displacement += starts[d] * part.step;
    if (auto ok = part.loop(subsizes[d], part.step); !ok) return fail(std::move(ok).error());
    if (auto ok = part.close(sizes[d]); !ok) return fail(std::move(ok).error());
  }
  builder.set_bounds(0, part.step);
  return builder.finish(part.displacement, std::move(part.node));
}

NewType make_darray(std::int64_t processes, std::int64_t rank, std::span<const DarrayDimension> dimensions,
                    ArrayOrder order, const Datatype& old) {
  if (auto ok = check_darray(processes, rank, dimensions); !ok) return fail(std::move(ok).error());
  ShapeBuilder builder(Combiner::darray, darray_arguments(processes, rank, dimensions, order));
  builder.refer(old);
  builder.cover(0, 1, old);
  // The process grid is in row-major order whatever the array's order is.
  std::vector<std::int64_t> coordinates(dimensions.size());
  std::int64_t grid = processes, within = rank;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    grid /= dimensions[i].processes;
    coordinates[i] = within / grid;
    within %= grid;
  }
  Part part{old.shape()->map.displacement, old.extent(), old.shape()->map.node};
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::size_t d = dimension(i, dimensions.size(), order);
    if (auto ok = distribute(part, dimensions[d], coordinates[d]); !ok) return fail(std::move(ok).error());
    if (auto ok = part.close(dimensions[d].size); !ok) return fail(std::move(ok).error());
  }
  builder.set_bounds(0, part.step);
  return builder.finish(part.displacement, std::move(part.node));
}

}  // namespace starling::mpi
