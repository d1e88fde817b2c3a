// SPDX-License-Identifier: BSD-3-Clause
// Predefined types: what each constant stands for.
#include "mpi/datatype/predefined.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace starling::mpi {
namespace {

const Datatype& type(HandleBits handle) { return *predefined_datatype(handle); }

TEST(Predefined, each_constant_of_the_abi_has_a_committed_type) {
  const auto all = predefined_datatypes();
  std::set<std::string> names;
  for (const Datatype* one : all) {
    EXPECT_TRUE(one->committed()) << one->name;
    EXPECT_TRUE(one->predefined()) << one->name;
    EXPECT_EQ(predefined_datatype(one->handle()), one) << one->name;
    names.insert(one->name);
  }
  EXPECT_EQ(all.size(), 70u);
  EXPECT_EQ(names.size(), all.size());
}

TEST(Predefined, null_and_unused_constants_have_none) {
  for (HandleBits handle : {0x0, 0x1ff, 0x200, 0x204, 0x211, 0x2ff, 0x300})
    EXPECT_EQ(predefined_datatype(handle), nullptr);
}

TEST(Predefined, fixed_size_constants_carry_their_size) {
  for (const Datatype* one : predefined_datatypes()) {
    const bool fixed_size = (one->handle() >= 0x240 && one->handle() < 0x280) || one->handle() >= 0x2c0;
    if (!fixed_size) continue;
    EXPECT_EQ(one->size(), 1u << ((one->handle() >> 3) & 7)) << one->name;
  }
}

TEST(Predefined, pairs_have_the_layout_of_c_structs) {
  struct LongDoubleInt {
    long double value;
    int index;
  };
  struct ShortInt {
    short value;
    int index;
  };
  EXPECT_EQ(type(0x22d).size(), sizeof(long double) + sizeof(int));
  EXPECT_EQ(type(0x22d).extent(), static_cast<std::int64_t>(sizeof(LongDoubleInt)));
  EXPECT_EQ(type(0x22c).size(), sizeof(short) + sizeof(int));
  EXPECT_EQ(type(0x22c).extent(), static_cast<std::int64_t>(sizeof(ShortInt)));
  EXPECT_FALSE(type(0x22c).contiguous());
  EXPECT_TRUE(type(0x228).contiguous());  // float and int leave no gap
  EXPECT_EQ(type(0x228).basic_elements(), 2u);

  const ShortInt pairs[2] = {{1, 2}, {3, 4}};
  std::byte packed[12];
  type(0x22c).pack(pairs, 2, 0, packed, sizeof packed);
  ShortInt back[2] = {};
  type(0x22c).unpack(back, 2, 0, packed, sizeof packed);
  EXPECT_EQ(back[1].value, 3);
  EXPECT_EQ(back[1].index, 4);
  int second = 0;
  std::memcpy(&second, packed + 8, sizeof second);
  EXPECT_EQ(second, 4);
}

TEST(Predefined, contiguous_types_need_no_layout) {
  int values[3] = {};
  const pml::Buffer buffer = type(0x209).buffer(values, 3);
  EXPECT_EQ(buffer.layout, nullptr);
  EXPECT_EQ(buffer.bytes, 12u);
  EXPECT_EQ(buffer.base, values);
}

}  // namespace
}  // namespace starling::mpi
