// SPDX-License-Identifier: BSD-3-Clause
// Sizes and alignments of the basic elements. Hard part: none; external32 sizes are MPI 5.0 table 14.2's.
#include "mpi/datatype/basic.hpp"

#include <array>
#include <complex>

namespace starling::mpi {
namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef __float128 Float128;

template <class T>
constexpr BasicInfo plain(std::uint32_t external_bytes = sizeof(T)) {
  return {sizeof(T), sizeof(T), alignof(T), external_bytes, Basic::none, Basic::none, 0};
}

/// A C struct {value; index}: the layout that MPI 5.0 section 6.9.4 gives the pair types.
template <class Value, class Index>
constexpr BasicInfo pair(Basic value, Basic index) {
  struct Layout {
    Value value;
    Index index;
  };
  return {sizeof(Value) + sizeof(Index), sizeof(Layout), alignof(Layout), 0, value, index,
          offsetof(Layout, index)};
}

using Table = std::array<BasicInfo, kBasics>;

constexpr void fill_numbers(Table& table) {
  const auto set = [&table](Basic basic, BasicInfo info) { table[to_index(basic)] = info; };
  set(Basic::byte, plain<std::uint8_t>());
  set(Basic::packed, plain<std::uint8_t>());
  set(Basic::character, plain<char>());
  set(Basic::wide_character, plain<wchar_t>(2));
  set(Basic::int8, plain<std::int8_t>());
  set(Basic::uint8, plain<std::uint8_t>());
  set(Basic::int16, plain<std::int16_t>());
  set(Basic::uint16, plain<std::uint16_t>());
  set(Basic::int32, plain<std::int32_t>());
  set(Basic::uint32, plain<std::uint32_t>());
  set(Basic::int64, plain<std::int64_t>());
  set(Basic::uint64, plain<std::uint64_t>());
  set(Basic::int128, plain<Int128>());
  set(Basic::c_long, plain<long>(4));
  set(Basic::c_unsigned_long, plain<unsigned long>(4));
  set(Basic::float16, plain<std::uint16_t>());
  set(Basic::float32, plain<float>());
  set(Basic::float64, plain<double>());
  set(Basic::long_double, plain<long double>(16));
  set(Basic::float128, plain<Float128>());
}

constexpr void fill_others(Table& table) {
  const auto set = [&table](Basic basic, BasicInfo info) { table[to_index(basic)] = info; };
  set(Basic::complex16, {4, 4, 2, 4, Basic::none, Basic::none, 0});
  set(Basic::complex32, plain<std::complex<float>>());
  set(Basic::complex64, plain<std::complex<double>>());
  set(Basic::complex_long_double, plain<std::complex<long double>>(32));
  set(Basic::complex128,
      {2 * sizeof(Float128), 2 * sizeof(Float128), alignof(Float128), 32, Basic::none, Basic::none, 0});
  set(Basic::boolean, plain<bool>());
  set(Basic::logical8, plain<std::int8_t>());
  set(Basic::logical16, plain<std::int16_t>());
  set(Basic::logical32, plain<std::int32_t>());
  set(Basic::logical64, plain<std::int64_t>());
  set(Basic::logical128, plain<Int128>());
  set(Basic::float32_int, pair<float, int>(Basic::float32, Basic::int32));
  set(Basic::float64_int, pair<double, int>(Basic::float64, Basic::int32));
  set(Basic::long_int, pair<long, int>(Basic::c_long, Basic::int32));
  set(Basic::short_int, pair<short, int>(Basic::int16, Basic::int32));
  set(Basic::long_double_int, pair<long double, int>(Basic::long_double, Basic::int32));
  set(Basic::int32_pair, pair<int, int>(Basic::int32, Basic::int32));
  set(Basic::float32_pair, pair<float, float>(Basic::float32, Basic::float32));
  set(Basic::float64_pair, pair<double, double>(Basic::float64, Basic::float64));
}

constexpr Table make_table() {
  Table table{};
  fill_numbers(table);
  fill_others(table);
  return table;
}
constexpr Table kTable = make_table();
static_assert(sizeof(float) == 4 && sizeof(double) == 8 && sizeof(short) == 2 && sizeof(int) == 4);

}  // namespace

const BasicInfo& info_of(Basic basic) noexcept { return kTable[to_index(basic)]; }

}  // namespace starling::mpi
