// SPDX-License-Identifier: BSD-3-Clause
// external32: bytes on the outside, values after the way back.
#include "mpi/datatype/external32.hpp"

#include <gtest/gtest.h>

#include "tests/unit/mpi/datatype/random_types.hpp"

namespace starling::mpi {
namespace {

template <class T>
std::string packed(HandleBits handle, T value) {
  std::string bytes(external_bytes(*type_of(handle).shape()->map.node), '\0');
  EXPECT_TRUE(pack_external(type_of(handle), &value, 1, reinterpret_cast<std::byte*>(bytes.data())));
  return bytes;
}

TEST(External32, numbers_are_big_endian) {
  EXPECT_EQ(packed(0x209, 0x01020304), std::string("\1\2\3\4"));
  EXPECT_EQ(packed(0x214, 1.0), std::string("\x3f\xf0\0\0\0\0\0\0", 8));
  const float complex[2] = {1.0f, -2.0f};
  std::byte out[8];
  ASSERT_TRUE(pack_external(type_of(0x212), complex, 1, out));
  EXPECT_EQ(out[0], std::byte{0x3f});
  EXPECT_EQ(out[4], std::byte{0xc0});  // the imaginary part stays second
}

TEST(External32, sizes_are_those_of_the_standards_table) {
  const auto size = [](HandleBits handle) { return external_bytes(*type_of(handle).shape()->map.node); };
  EXPECT_EQ(size(0x20a), 4u);   // MPI_LONG
  EXPECT_EQ(size(0x20e), 4u);   // MPI_UNSIGNED_LONG
  EXPECT_EQ(size(0x20b), 8u);   // MPI_LONG_LONG
  EXPECT_EQ(size(0x23c), 2u);   // MPI_WCHAR
  EXPECT_EQ(size(0x220), 16u);  // MPI_LONG_DOUBLE
  EXPECT_EQ(size(0x201), 8u);   // MPI_AINT
  EXPECT_EQ(size(0x22d), 20u);  // MPI_LONG_DOUBLE_INT: no padding outside
}

TEST(External32, a_long_that_does_not_fit_is_noticed) {
  std::byte out[4];
  const long small = -5, large = 1L << 40;
  EXPECT_TRUE(pack_external(type_of(0x20a), &small, 1, out));
  EXPECT_FALSE(pack_external(type_of(0x20a), &large, 1, out));
  long back = 0;
  ASSERT_TRUE(pack_external(type_of(0x20a), &small, 1, out));
  unpack_external(type_of(0x20a), &back, 1, out);
  EXPECT_EQ(back, -5);
}

TEST(External32, long_double_is_binary128_outside) {
  const std::string bytes = packed(0x220, -2.0L);
  EXPECT_EQ(bytes.substr(0, 2), std::string("\xc0\0", 2));
  const long double value = 1.25L;
  std::byte out[16];
  ASSERT_TRUE(pack_external(type_of(0x220), &value, 1, out));
  long double back = 0;
  unpack_external(type_of(0x220), &back, 1, out);
  EXPECT_EQ(back, value);
}

TEST(External32, nested_types_come_back_as_they_were) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    RandomTypes random(seed);
    const Pair pair = random.type(3);
    if (pair.model.size() == 0 || !pair.model.disjoint(2)) continue;
    model::Memory memory = model::memory_for(pair.model, 2);
    // Not every pattern of 16 bytes is a value of the 80-bit format; zero is.
    for (std::int64_t i = 0; i < 2; ++i) {
      for (const model::Entry& entry : pair.model.entries) {
        for (std::int64_t b = 0; b < entry.bytes && entry.bytes < 16; ++b) {
          memory.base()[entry.at + b + i * pair.model.extent()] =
              static_cast<unsigned char>(random.number(0, 255));
        }
      }
    }
    std::vector<std::byte> outside(2 * external_bytes(*pair.real->shape()->map.node) + 1, std::byte{0x7e});
    ASSERT_TRUE(pack_external(*pair.real, memory.base(), 2, outside.data())) << seed;
    EXPECT_EQ(outside.back(), std::byte{0x7e}) << seed;
    model::Memory back = model::memory_for(pair.model, 2);
    unpack_external(*pair.real, back.base(), 2, outside.data());
    EXPECT_EQ(model::pack(pair.model, 2, back.base()), model::pack(pair.model, 2, memory.base())) << seed;
  }
}

TEST(External32, elements_of_a_vector_are_converted_where_they_lie) {
  const int values[6] = {1, 2, 3, 4, 5, 6};
  const Ref<Datatype> odd = make_vector(3, 1, 2, type_of(0x209)).value();
  std::byte out[12];
  ASSERT_TRUE(pack_external(*odd, values, 1, out));
  EXPECT_EQ(out[3], std::byte{1});
  EXPECT_EQ(out[7], std::byte{3});
  EXPECT_EQ(out[11], std::byte{5});
  int back[6] = {};
  unpack_external(*odd, back, 1, out);
  EXPECT_EQ(back[4], 5);
  EXPECT_EQ(back[1], 0);
}

}  // namespace
}  // namespace starling::mpi
