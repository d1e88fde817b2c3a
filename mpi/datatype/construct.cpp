// SPDX-License-Identifier: BSD-3-Clause
// Constructors of regular and indexed types. Each checks its arguments, builds the typemap's tree and tells
// the shape builder what bounds it covers.
#include "mpi/datatype/construct.hpp"

#include <algorithm>

#include "mpi/datatype/f90.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/datatype/shape_builder.hpp"

namespace starling::mpi {
namespace {

using Argument = Contents::Argument;
using Sort = Contents::Sort;

Argument counts(std::vector<std::int64_t> values) { return {Sort::count, std::move(values)}; }
Argument addresses(std::vector<std::int64_t> values) { return {Sort::address, std::move(values)}; }
std::vector<std::int64_t> copy_of(Int64s values) { return {values.begin(), values.end()}; }
std::vector<std::int64_t> one(std::size_t value) { return {static_cast<std::int64_t>(value)}; }

Result<void> check_count(const char* what, std::int64_t value) {
  if (value >= 0) return {};
  return type_error(std::string(what) + " is " + std::to_string(value) + ", expected >= 0");
}

Result<void> check_lengths(Int64s lengths) {
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) {
      return type_error("array_of_blocklengths[" + std::to_string(i) + "] is " + std::to_string(lengths[i]) +
                        ", expected >= 0");
    }
  }
  return {};
}

/// Element displacements as bytes; a block without elements may stand anywhere (section 5.1).
Result<std::vector<std::int64_t>> scaled(Int64s displacements, Int64s lengths, std::int64_t extent) {
  std::vector<std::int64_t> bytes(displacements.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (lengths[i] == 0) continue;
    const Int128 wide = Int128{displacements[i]} * extent;
    if (!fits_63_bits(wide)) return too_large_error();
    bytes[i] = static_cast<std::int64_t>(wide);
  }
  return bytes;
}

NewType strided(ShapeBuilder builder, std::int64_t count, std::int64_t length, Int128 stride,
                const Datatype& old) {
  if (auto ok = check_count("count", count); !ok) return fail(std::move(ok).error());
  if (auto ok = check_count("blocklength", length); !ok) return fail(std::move(ok).error());
  if (length == 0) stride = 0;  // no element is anywhere
  if (count > 1 && !fits_63_bits(stride)) return too_large_error();
  builder.refer(old);
  if (count > 0) {
    builder.cover(0, length, old);
    builder.cover(Int128{count - 1} * stride, length, old);
  }
  auto block = make_loop(length, old.extent(), old.shape()->map.node);
  if (!block) return fail(std::move(block).error());
  auto all = make_loop(count, count > 1 ? static_cast<std::int64_t>(stride) : 0, std::move(*block));
  if (!all) return fail(std::move(all).error());
  return builder.finish(old.shape()->map.displacement, std::move(*all));
}

NewType blocks(ShapeBuilder builder, std::vector<std::int64_t> lengths, std::vector<std::int64_t> bytes,
               const Datatype& old) {
  if (auto ok = check_lengths(lengths); !ok) return fail(std::move(ok).error());
  builder.refer(old);
  for (std::size_t i = 0; i < lengths.size(); ++i) builder.cover(bytes[i], lengths[i], old);
  auto node = make_blocks(std::move(bytes), std::move(lengths), old.extent(), old.shape()->map.node);
  if (!node) return fail(std::move(node).error());
  return builder.finish(old.shape()->map.displacement, std::move(*node));
}

}  // namespace

NewType make_contiguous(std::int64_t count, const Datatype& old) {
  return strided(ShapeBuilder(Combiner::contiguous, {counts({count})}), count, 1, old.extent(), old);
}

NewType make_vector(std::int64_t count, std::int64_t block_length, std::int64_t stride, const Datatype& old) {
  return strided(ShapeBuilder(Combiner::vector, {counts({count, block_length, stride})}), count, block_length,
                 Int128{stride} * old.extent(), old);
}

NewType make_hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                     const Datatype& old) {
  return strided(ShapeBuilder(Combiner::hvector, {counts({count, block_length}), addresses({stride_bytes})}),
                 count, block_length, stride_bytes, old);
}

NewType make_indexed(Int64s block_lengths, Int64s displacements, const Datatype& old) {
  auto bytes = scaled(displacements, block_lengths, old.extent());
  if (!bytes) return fail(std::move(bytes).error());
  ShapeBuilder builder(Combiner::indexed, {counts(one(block_lengths.size())), counts(copy_of(block_lengths)),
                                           counts(copy_of(displacements))});
  return blocks(std::move(builder), copy_of(block_lengths), std::move(*bytes), old);
}

NewType make_hindexed(Int64s block_lengths, Int64s displacement_bytes, const Datatype& old) {
  ShapeBuilder builder(Combiner::hindexed, {counts(one(block_lengths.size())), counts(copy_of(block_lengths)),
                                            addresses(copy_of(displacement_bytes))});
  return blocks(std::move(builder), copy_of(block_lengths), copy_of(displacement_bytes), old);
}

NewType make_indexed_block(std::int64_t block_length, Int64s displacements, const Datatype& old) {
  if (auto ok = check_count("blocklength", block_length); !ok) return fail(std::move(ok).error());
  std::vector<std::int64_t> lengths(displacements.size(), block_length);
  auto bytes = scaled(displacements, lengths, old.extent());
  if (!bytes) return fail(std::move(bytes).error());
  ShapeBuilder builder(Combiner::indexed_block,
                       {counts({static_cast<std::int64_t>(displacements.size()), block_length}),
                        counts(copy_of(displacements))});
  return blocks(std::move(builder), std::move(lengths), std::move(*bytes), old);
}

NewType make_hindexed_block(std::int64_t block_length, Int64s displacement_bytes, const Datatype& old) {
  if (auto ok = check_count("blocklength", block_length); !ok) return fail(std::move(ok).error());
  ShapeBuilder builder(Combiner::hindexed_block,
                       {counts({static_cast<std::int64_t>(displacement_bytes.size()), block_length}),
                        addresses(copy_of(displacement_bytes))});
  return blocks(std::move(builder), std::vector<std::int64_t>(displacement_bytes.size(), block_length),
                copy_of(displacement_bytes), old);
}

NewType make_struct(Int64s block_lengths, Int64s displacement_bytes, std::span<const Datatype* const> types) {
  if (auto ok = check_lengths(block_lengths); !ok) return fail(std::move(ok).error());
  ShapeBuilder builder(Combiner::structure,
                       {counts(one(block_lengths.size())), counts(copy_of(block_lengths)),
                        addresses(copy_of(displacement_bytes))});
  std::vector<Placed> items;
  items.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Datatype& old = *types[i];
    builder.refer(old);
    builder.cover(displacement_bytes[i], block_lengths[i], old);
    auto block = make_loop(block_lengths[i], old.extent(), old.shape()->map.node);
    if (!block) return fail(std::move(block).error());
    if ((*block)->size == 0) continue;  // nothing, wherever it is
    const Int128 at = Int128{displacement_bytes[i]} + old.shape()->map.displacement;
    if (!fits_63_bits(at)) return too_large_error();
    items.push_back({static_cast<std::int64_t>(at), std::move(*block)});
  }
  return builder.finish(make_list(std::move(items)));
}

NewType make_resized(std::int64_t lb, std::int64_t extent, const Datatype& old) {
  ShapeBuilder builder(Combiner::resized, {addresses({lb, extent})});
  builder.refer(old);
  builder.cover(0, 1, old);
  builder.set_bounds(lb, Int128{lb} + extent);
  return builder.finish(old.shape()->map.displacement, old.shape()->map.node);
}

NewType make_dup(const Datatype& old) {
  auto shape = std::make_shared<Shape>(*old.shape());
  shape->predefined = 0;
  shape->contents = {};
  shape->contents.combiner = Combiner::dup;
  shape->contents.types.push_back(old.shape());
  auto type = Ref<Datatype>::adopt(new Datatype(std::move(shape)));
  type->commit_like(old);
  return type;
}

Ref<Datatype> object_of(const ShapePtr& shape) {
  if (shape->predefined != 0) return Ref<Datatype>::share(predefined_datatype(shape->predefined));
  const Contents& contents = shape->contents;
  if (is_f90(contents.combiner)) {
    const std::vector<std::int64_t>& demand = contents.arguments[0].values;
    return Ref<Datatype>::share(
        f90_type(contents.combiner, static_cast<int>(demand.front()), static_cast<int>(demand.back())));
  }
  return Ref<Datatype>::adopt(new Datatype(shape));
}

}  // namespace starling::mpi
