// SPDX-License-Identifier: BSD-3-Clause
// Constructors and packing against the typemap model: random nested types, random fragments in random order.
#include "mpi/datatype/construct.hpp"

#include <gtest/gtest.h>
#include <limits>

#include <numeric>

#include "tests/unit/mpi/datatype/random_types.hpp"

namespace starling::mpi {
namespace {

const Datatype& int_type() { return type_of(0x209); }
const Datatype& double_type() { return type_of(0x214); }

void expect_same_facts(const Pair& pair, unsigned seed) {
  const Datatype& real = *pair.real;
  EXPECT_EQ(static_cast<std::int64_t>(real.size()), pair.model.size()) << seed;
  EXPECT_EQ(real.lb(), pair.model.lb()) << seed;
  EXPECT_EQ(real.ub(), pair.model.ub()) << seed;
  EXPECT_EQ(real.true_lb(), pair.model.true_lb()) << seed;
  EXPECT_EQ(real.true_ub(), pair.model.true_ub()) << seed;
  EXPECT_EQ(static_cast<std::int64_t>(real.basic_elements()), pair.model.elements()) << seed;
}

/// [0, bytes) cut at random places, in random order.
std::vector<std::pair<std::size_t, std::size_t>> fragments(RandomTypes& random, std::size_t bytes) {
  std::vector<std::pair<std::size_t, std::size_t>> cuts;
  for (std::size_t at = 0; at < bytes;) {
    const auto length =
        std::min(bytes - at, static_cast<std::size_t>(random.number(1, random.number(1, 4) == 1 ? 7 : 200)));
    cuts.emplace_back(at, length);
    at += length;
  }
  std::shuffle(cuts.begin(), cuts.end(), random.engine());
  return cuts;
}

void expect_same_bytes(const Pair& pair, RandomTypes& random, std::int64_t count, unsigned seed) {
  model::Memory memory = model::memory_for(pair.model, count);
  for (unsigned char& byte : memory.bytes) byte = static_cast<unsigned char>(random.number(0, 255));
  const std::vector<std::byte> want = model::pack(pair.model, count, memory.base());
  const auto elements = static_cast<std::uint64_t>(count);

  std::vector<std::byte> whole(want.size() + 1, std::byte{0xee});
  pair.real->pack(memory.base(), elements, 0, whole.data(), want.size());
  EXPECT_EQ(whole.back(), std::byte{0xee}) << seed;
  whole.pop_back();
  ASSERT_EQ(whole, want) << seed << " " << pair.real->describe();

  std::vector<std::byte> pieces(want.size());
  for (const auto& [at, length] : fragments(random, want.size())) {
    pair.real->pack(memory.base(), elements, at, pieces.data() + at, length);
  }
  ASSERT_EQ(pieces, want) << seed << " " << pair.real->describe();

  if (!pair.model.disjoint(count)) return;
  model::Memory got = model::memory_for(pair.model, count);
  model::Memory expected = got;
  model::unpack(pair.model, count, want, expected.base());
  for (const auto& [at, length] : fragments(random, want.size())) {
    pair.real->unpack(got.base(), elements, at, want.data() + at, length);
  }
  ASSERT_EQ(got.bytes, expected.bytes) << seed << " " << pair.real->describe();
}

TEST(Datatype, random_nested_types_match_the_typemap_model) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomTypes random(seed);
    const Pair pair = random.type(static_cast<int>(random.number(1, 4)));
    expect_same_facts(pair, seed);
    pair.real->commit();
    for (const std::int64_t count : {1, 2, 5}) {
      if (count * pair.model.size() > 20000) continue;
      expect_same_bytes(pair, random, count, seed);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(make_dup(*pair.real).value()->extent(), pair.real->extent());
  }
}

TEST(Datatype, contiguous_types_are_known_as_such) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomTypes random(seed);
    const Pair pair = random.type(3);
    if (pair.model.size() == 0) continue;
    std::vector<std::int64_t> order;
    const std::int64_t step = pair.model.extent();
    for (std::int64_t i = 0; i < 3; ++i) {
      for (const model::Entry& entry : pair.model.entries) {
        for (std::int64_t b = 0; b < entry.bytes; ++b) order.push_back(entry.at + b + i * step);
      }
    }
    bool contiguous = true;
    for (std::size_t i = 0; i < order.size(); ++i)
      contiguous = contiguous && order[i] == static_cast<std::int64_t>(i);
    EXPECT_EQ(pair.real->contiguous(), contiguous) << seed;
  }
}

TEST(Datatype, spans_and_gaps_cover_the_bytes_of_several_elements) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomTypes random(seed);
    const Pair pair = random.type(3);
    if (pair.model.size() == 0) continue;
    for (const std::int64_t count : {1, 3}) {
      const std::int64_t last = (count - 1) * pair.model.extent();
      const std::int64_t low = std::min(pair.model.true_lb(), pair.model.true_lb() + last);
      const std::int64_t high = std::max(pair.model.true_ub(), pair.model.true_ub() + last);
      EXPECT_EQ(pair.real->gap(static_cast<std::uint64_t>(count)), low) << seed;
      EXPECT_EQ(pair.real->span_bytes(static_cast<std::uint64_t>(count)), high - low) << seed;
    }
  }
}

TEST(Datatype, element_counts_and_bytes_are_each_others_reverse) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomTypes random(seed);
    const Pair pair = random.type(3);
    if (pair.model.size() == 0) continue;
    const Node& node = *pair.real->shape()->map.node;
    std::uint64_t bytes = 0, elements = 0;
    for (const model::Entry& entry : pair.model.entries) {
      if (entry.sort != model::Entry::Sort::data) continue;
      EXPECT_EQ(elements_in(node, bytes), elements) << seed;
      EXPECT_EQ(bytes_of(node, elements), bytes) << seed;
      if (entry.bytes > 1) {
        EXPECT_EQ(elements_in(node, bytes + 1), std::nullopt) << seed;
      }
      bytes += static_cast<std::uint64_t>(entry.bytes);
      ++elements;
    }
    EXPECT_EQ(elements_in(node, bytes), elements);
    EXPECT_EQ(bytes_of(node, elements), bytes);
  }
}

TEST(Datatype, regular_types_compile_to_one_step) {
  const auto compiled = [](NewType made) {
    const Ref<Datatype> t = std::move(made).value();
    t->commit();
    return t->describe();
  };
  EXPECT_EQ(compiled(make_contiguous(1000, double_type())), "run x 8000");
  EXPECT_EQ(compiled(make_vector(100, 2, 5, double_type())), "strided 100 x 16 / 40");
  EXPECT_EQ(compiled(make_vector(100, 5, 5, double_type())), "run x 4000");
  const std::int64_t cube[] = {20, 20, 20}, at[] = {0, 0, 0};
  const std::int64_t x_face[] = {20, 20, 1}, y_face[] = {20, 1, 20}, z_face[] = {1, 20, 20},
                     part[] = {3, 10, 10};
  EXPECT_EQ(compiled(make_subarray(cube, x_face, at, ArrayOrder::c, double_type())), "strided 400 x 8 / 160");
  EXPECT_EQ(compiled(make_subarray(cube, y_face, at, ArrayOrder::c, double_type())),
            "strided 20 x 160 / 3200");
  EXPECT_EQ(compiled(make_subarray(cube, z_face, at, ArrayOrder::c, double_type())), "run x 3200");
  EXPECT_EQ(compiled(make_subarray(cube, part, at, ArrayOrder::c, double_type())),
            "repeat 3 / 3200 of strided 10 x 80 / 160");
  const std::int64_t lengths[] = {1, 2, 3}, places[] = {0, 1, 3};
  EXPECT_EQ(compiled(make_indexed(lengths, places, int_type())), "run x 24");
}

TEST(Datatype, huge_counts_cost_no_memory_and_any_offset_is_reached) {
  const std::int64_t huge = std::int64_t{1} << 40;
  const Ref<Datatype> rows = make_vector(huge, 1, 2, int_type()).value();
  const Ref<Datatype> planes = make_hvector(1 << 10, 1, huge * 8 + 4, *rows).value();
  EXPECT_EQ(planes->size(), static_cast<std::uint64_t>(huge) * 4 * 1024);
  planes->commit();
  // The only memory that exists is around one element far inside.
  int cell[4] = {1, 2, 3, 4};
  const std::uint64_t plane = 1000, row = (std::uint64_t{1} << 39) + 7;
  const std::uint64_t far = plane * static_cast<std::uint64_t>(huge * 8 + 4) + row * 8;
  const auto base = reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(cell) - far);
  int out[2] = {};
  planes->pack(base, 1, (plane * static_cast<std::uint64_t>(huge) + row) * 4,
               reinterpret_cast<std::byte*>(out), sizeof out);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 3);
}

TEST(Datatype, sizes_beyond_63_bits_are_refused) {
  const std::int64_t huge = std::int64_t{1} << 61;
  EXPECT_FALSE(make_contiguous(huge, int_type()));
  EXPECT_FALSE(make_vector(huge, 1, 1 << 20, type_of(0x247)));
  EXPECT_FALSE(make_resized(huge * 2, huge * 2, int_type()));
  const std::int64_t lengths[] = {huge, huge, huge, huge, huge}, at[] = {0, 0, 0, 0, 0};
  EXPECT_FALSE(make_hindexed(lengths, at, type_of(0x247)));
  const std::int64_t sizes[] = {huge, huge}, ones[] = {1, 1}, zeros[] = {0, 0};
  EXPECT_FALSE(make_subarray(sizes, ones, zeros, ArrayOrder::c, int_type()));
}

// The maps refuse by themselves: a size that wraps around to a small one would have bounds that fit.
TEST(Typemap, loops_whose_size_does_not_fit_are_refused) {
  const std::int64_t huge = std::int64_t{1} << 62;
  const NodePtr leaf = make_leaf(Basic::int32);
  EXPECT_FALSE(make_loop(huge, 4, leaf));
  EXPECT_FALSE(make_loop(huge + 1, 4, leaf));  // 4 bytes, modulo 2^64
  EXPECT_FALSE(make_loop(huge, 8, leaf));
  EXPECT_TRUE(make_loop(huge / 4, 4, leaf));
  EXPECT_FALSE(make_loop(huge / 2, 4, leaf)) << "its last element begins where it may, and ends at 2^63";
  EXPECT_TRUE(make_loop(huge / 2 - 1, 4, leaf));
  const NodePtr far = make_loop(2, huge, leaf).value();
  EXPECT_FALSE(make_loop(3, huge / 2, far)) << "size and steps fit, the end does not";
  EXPECT_TRUE(make_loop(2, huge / 4, far));
  EXPECT_FALSE(make_blocks({0}, {huge}, 4, leaf));
  EXPECT_FALSE(make_blocks({0, 64}, {huge / 4, huge / 4}, 4, leaf));
  EXPECT_TRUE(make_blocks({0, huge}, {huge / 4, 1}, 4, leaf));
}

TEST(Datatype, a_block_without_elements_may_stand_anywhere) {
  const std::int64_t far = std::numeric_limits<std::int64_t>::max();
  const std::int64_t lengths[] = {1, 0}, at[] = {4, far};
  const Datatype* const types[] = {&int_type(), &double_type()};
  const NewType made[] = {make_struct(lengths, at, types), make_hindexed(lengths, at, int_type()),
                          make_indexed(lengths, at, int_type())};
  for (const NewType& type : made) {
    ASSERT_TRUE(type) << type.error().text();
    EXPECT_EQ((*type)->size(), 4u);
    EXPECT_EQ((*type)->extent(), 4);
  }
  EXPECT_TRUE(make_vector(2, 0, far, double_type()));
  EXPECT_TRUE(make_indexed_block(0, at, double_type()));
  const std::int64_t one[] = {1, 1};
  EXPECT_FALSE(make_struct(one, at, types));
}

TEST(Datatype, wrong_arguments_are_named) {
  const std::int64_t lengths[] = {1, -2}, at[] = {0, 8};
  EXPECT_EQ(make_indexed(lengths, at, int_type()).error().detail,
            "array_of_blocklengths[1] is -2, expected >= 0");
  EXPECT_EQ(make_contiguous(-1, int_type()).error().detail, "count is -1, expected >= 0");
  const std::int64_t sizes[] = {4, 4}, subsizes[] = {4, 2}, starts[] = {0, 3}, none[] = {0, 2};
  EXPECT_EQ(make_subarray(sizes, subsizes, starts, ArrayOrder::c, int_type()).error().detail,
            "array_of_starts[1] is 3, expected 0..2");
  EXPECT_FALSE(make_subarray(sizes, none, starts, ArrayOrder::c, int_type()));
  EXPECT_FALSE(make_subarray({}, {}, {}, ArrayOrder::c, int_type()));
  const DarrayDimension grid[] = {{8, Distribution::block, 2, 3}};
  EXPECT_FALSE(make_darray(3, 0, grid, ArrayOrder::c, int_type()));  // 3 blocks of 2 do not cover 8
  const DarrayDimension fine[] = {{8, Distribution::block, 3, 3}};
  EXPECT_TRUE(make_darray(3, 0, fine, ArrayOrder::c, int_type()));
  EXPECT_FALSE(make_darray(4, 0, fine, ArrayOrder::c, int_type()));
  EXPECT_FALSE(make_darray(3, 3, fine, ArrayOrder::c, int_type()));
}

TEST(Datatype, contents_keep_the_arguments_in_the_standards_order) {
  const std::int64_t lengths[] = {2, 3}, at[] = {16, 0};
  const Datatype* const types[] = {&int_type(), &double_type()};
  const Ref<Datatype> made = make_struct(lengths, at, types).value();
  const Contents& contents = made->contents();
  EXPECT_EQ(contents.combiner, Combiner::structure);
  EXPECT_EQ(contents.count(Contents::Sort::count), 3u);
  EXPECT_EQ(contents.count(Contents::Sort::address), 2u);
  EXPECT_EQ(contents.arguments[0].values, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(contents.arguments[1].values, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(contents.arguments[2].values, (std::vector<std::int64_t>{16, 0}));
  ASSERT_EQ(contents.types.size(), 2u);
  EXPECT_EQ(object_of(contents.types[1]).get(), &double_type());
  EXPECT_FALSE(contents.needs_large_counts());
  EXPECT_TRUE(make_contiguous(std::int64_t{1} << 32, int_type()).value()->contents().needs_large_counts());

  const Ref<Datatype> outer = make_contiguous(2, *made).value();
  const Ref<Datatype> inner = object_of(outer->contents().types[0]);
  EXPECT_NE(inner.get(), made.get());
  EXPECT_EQ(inner->contents().combiner, Combiner::structure);
}

TEST(Datatype, a_duplicate_of_a_predefined_type_still_takes_operations) {
  const Ref<Datatype> copy = make_dup(double_type()).value();
  EXPECT_EQ(copy->basic(), Basic::float64);
  EXPECT_EQ(copy->op_class(), OpClass::floating);
  EXPECT_TRUE(copy->committed());
  EXPECT_EQ(copy->contents().combiner, Combiner::dup);
  EXPECT_EQ(make_contiguous(1, double_type()).value()->basic(), Basic::none);
}

TEST(Datatype, absolute_addresses_work_from_the_null_address) {
  int first = 11, second = 22;
  const std::int64_t at[] = {reinterpret_cast<std::int64_t>(&first), reinterpret_cast<std::int64_t>(&second)};
  const Ref<Datatype> both = make_hindexed_block(1, at, int_type()).value();
  both->commit();
  EXPECT_TRUE(both->absolute());
  EXPECT_FALSE(int_type().absolute());
  int out[2] = {};
  both->pack(nullptr, 1, 0, reinterpret_cast<std::byte*>(out), sizeof out);
  EXPECT_EQ(out[0], 11);
  EXPECT_EQ(out[1], 22);
}

TEST(Datatype, one_basic_element_is_recognised_through_the_constructors) {
  const Ref<Datatype> doubles = make_vector(3, 2, 4, double_type()).value();
  const std::int64_t lengths[] = {1, 2}, at[] = {0, 800};
  const Datatype* const same[] = {&double_type(), doubles.get()};
  const Datatype* const mixed[] = {&int_type(), doubles.get()};
  EXPECT_EQ(only_basic(*make_struct(lengths, at, same).value()->shape()->map.node), Basic::float64);
  EXPECT_EQ(only_basic(*make_struct(lengths, at, mixed).value()->shape()->map.node), Basic::none);
}

}  // namespace
}  // namespace starling::mpi
