// SPDX-License-Identifier: BSD-3-Clause
// Predefined operations against a scalar reference, for every type that the standard allows.
#include "mpi/op/op.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "mpi/datatype/predefined.hpp"
#include "mpi/op/half.hpp"

namespace starling::mpi {
namespace {

constexpr std::size_t kCount = 37;  // no multiple of a vector's width
__extension__ typedef __int128 Int128;
__extension__ typedef __float128 Float128;

const Datatype& type(HandleBits handle) { return *predefined_datatype(handle); }
const Op& op(OpCode code) {
  for (const Op* one : predefined_ops()) {
    if (one->code() == code) return *one;
  }
  throw std::logic_error("no such operation");
}

/// Applies `code` to random small values of T and compares with `expected`, element by element.
template <class T>
void expect_elementwise(const Datatype& datatype, OpCode code, const std::function<T(std::mt19937&)>& draw,
                        const std::function<T(T, T)>& expected) {
  ASSERT_EQ(why_not(op(code), datatype), "");
  std::mt19937 random(7);
  std::vector<T> in(kCount), inout(kCount), before;
  for (std::size_t i = 0; i < kCount; ++i) {
    in[i] = draw(random);
    inout[i] = draw(random);
  }
  before = inout;
  op(code).apply(in.data(), inout.data(), kCount - 1, datatype);
  for (std::size_t i = 0; i + 1 < kCount; ++i) {
    const T want = expected(in[i], before[i]);
    EXPECT_EQ(std::memcmp(&want, &inout[i],
                          sizeof(T) > 10 && datatype.basic() == Basic::long_double ? 10 : sizeof(T)),
              0)
        << op(code).name << " " << datatype.name << " element " << i;
  }
  EXPECT_EQ(std::memcmp(&before[kCount - 1], &inout[kCount - 1], sizeof(T)), 0) << "wrote behind the end";
}

template <class T>
void check_integer(const Datatype& t) {
  const auto draw = [](std::mt19937& random) { return static_cast<T>(random() % 3 == 0 ? 0u : random()); };
  // Arithmetic modulo 2^n, written with 128-bit numbers.
  __extension__ typedef unsigned __int128 Wide;
  const auto sum = [](T a, T b) { return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b)); };
  const auto prod = [](T a, T b) { return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b)); };
  expect_elementwise<T>(t, OpCode::sum, draw, sum);
  expect_elementwise<T>(t, OpCode::prod, draw, prod);
  expect_elementwise<T>(t, OpCode::min, draw, [](T a, T b) { return std::min(a, b); });
  expect_elementwise<T>(t, OpCode::max, draw, [](T a, T b) { return std::max(a, b); });
  expect_elementwise<T>(t, OpCode::band, draw, [](T a, T b) { return static_cast<T>(a & b); });
  expect_elementwise<T>(t, OpCode::bor, draw, [](T a, T b) { return static_cast<T>(a | b); });
  expect_elementwise<T>(t, OpCode::bxor, draw, [](T a, T b) { return static_cast<T>(a ^ b); });
}

template <class T>
void check_logical(const Datatype& t) {
  const auto draw = [](std::mt19937& random) {
    return static_cast<T>(random() % 2 == 0 ? 0 : random() % 2 + (sizeof(T) > 1 ? 1 : 0));
  };
  const auto draw_bool = [](std::mt19937& random) { return static_cast<T>(random() % 2); };
  const std::function<T(std::mt19937&)> source =
      t.basic() == Basic::boolean ? std::function<T(std::mt19937&)>(draw_bool) : draw;
  expect_elementwise<T>(t, OpCode::land, source, [](T a, T b) { return static_cast<T>(a && b ? 1 : 0); });
  expect_elementwise<T>(t, OpCode::lor, source, [](T a, T b) { return static_cast<T>(a || b ? 1 : 0); });
  expect_elementwise<T>(t, OpCode::lxor, source, [](T a, T b) { return static_cast<T>(!a != !b ? 1 : 0); });
}

template <class T>
void check_floating(const Datatype& t) {
  const auto draw = [](std::mt19937& random) {
    return static_cast<T>(static_cast<int>(random() % 201) - 100) / T(8);
  };
  expect_elementwise<T>(t, OpCode::sum, draw, [](T a, T b) { return a + b; });
  expect_elementwise<T>(t, OpCode::prod, draw, [](T a, T b) { return a * b; });
  expect_elementwise<T>(t, OpCode::min, draw, [](T a, T b) { return b < a ? b : a; });
  expect_elementwise<T>(t, OpCode::max, draw, [](T a, T b) { return b > a ? b : a; });
}

template <class T>
void check_complex(const Datatype& t) {
  struct Number {
    T re, im;
  };
  const auto draw = [](std::mt19937& random) {
    const auto part = [&] { return static_cast<T>(static_cast<int>(random() % 41) - 20); };
    Number number{};
    std::memset(&number, 0, sizeof number);
    number.re = part();
    number.im = part();
    return number;
  };
  std::mt19937 random(3);
  std::vector<Number> in(kCount), inout(kCount);
  for (OpCode code : {OpCode::sum, OpCode::prod}) {
    for (std::size_t i = 0; i < kCount; ++i) in[i] = draw(random), inout[i] = draw(random);
    const auto before = inout;
    ASSERT_EQ(why_not(op(code), t), "");
    op(code).apply(in.data(), inout.data(), kCount, t);
    for (std::size_t i = 0; i < kCount; ++i) {
      const Number a = in[i], b = before[i];
      const T re = code == OpCode::sum ? a.re + b.re : a.re * b.re - a.im * b.im;
      const T im = code == OpCode::sum ? a.im + b.im : a.re * b.im + a.im * b.re;
      EXPECT_TRUE(inout[i].re == re && inout[i].im == im)
          << op(code).name << " " << t.name << " element " << i;
    }
  }
}

template <class Value, class Index>
void check_pair(const Datatype& t) {
  struct Pair {
    Value value;
    Index index;
  };
  ASSERT_EQ(static_cast<std::int64_t>(sizeof(Pair)), t.extent()) << t.name;
  std::mt19937 random(5);
  for (OpCode code : {OpCode::minloc, OpCode::maxloc}) {
    std::vector<Pair> in(kCount), inout(kCount);
    const auto draw = [&] {
      return Pair{static_cast<Value>(random() % 3), static_cast<Index>(random() % 5)};
    };
    for (std::size_t i = 0; i < kCount; ++i) in[i] = draw(), inout[i] = draw();
    const auto before = inout;
    ASSERT_EQ(why_not(op(code), t), "");
    op(code).apply(in.data(), inout.data(), kCount, t);
    for (std::size_t i = 0; i < kCount; ++i) {
      const Pair a = in[i], b = before[i];
      Pair want = a;
      if (a.value == b.value) {
        want.index = std::min(a.index, b.index);
      } else if ((b.value < a.value) == (code == OpCode::minloc)) {
        want = b;
      }
      EXPECT_TRUE(inout[i].value == want.value && inout[i].index == want.index) << t.name << " " << i;
    }
  }
}

/// Calls the check of the element that a predefined type has; false if it has none.
bool check_numbers(const Datatype& t) {
  switch (t.basic()) {
    case Basic::int8: check_integer<std::int8_t>(t); return true;
    case Basic::uint8: check_integer<std::uint8_t>(t); return true;
    case Basic::int16: check_integer<std::int16_t>(t); return true;
    case Basic::uint16: check_integer<std::uint16_t>(t); return true;
    case Basic::int32: check_integer<std::int32_t>(t); return true;
    case Basic::uint32: check_integer<std::uint32_t>(t); return true;
    case Basic::int64: check_integer<std::int64_t>(t); return true;
    case Basic::uint64: check_integer<std::uint64_t>(t); return true;
    case Basic::c_long: check_integer<long>(t); return true;
    case Basic::c_unsigned_long: check_integer<unsigned long>(t); return true;
    case Basic::int128: check_integer<Int128>(t); return true;
    case Basic::float32: check_floating<float>(t); return true;
    case Basic::float64: check_floating<double>(t); return true;
    case Basic::long_double: check_floating<long double>(t); return true;
    case Basic::float128: check_floating<Float128>(t); return true;
    case Basic::complex32: check_complex<float>(t); return true;
    case Basic::complex64: check_complex<double>(t); return true;
    case Basic::complex_long_double: check_complex<long double>(t); return true;
    case Basic::complex128: check_complex<Float128>(t); return true;
    default: return false;
  }
}

TEST(Op, numbers_of_every_class_match_a_scalar_reference) {
  int checked = 0;
  for (const Datatype* t : predefined_datatypes()) checked += check_numbers(*t) ? 1 : 0;
  EXPECT_GE(checked, 45);
}

TEST(Op, logical_operations_give_zero_or_one) {
  for (const Datatype* t : predefined_datatypes()) {
    if (t->op_class() != OpClass::logical && t->op_class() != OpClass::c_integer) continue;
    switch (t->size()) {
      case 1: check_logical<std::uint8_t>(*t); break;
      case 2: check_logical<std::int16_t>(*t); break;
      case 4: check_logical<std::int32_t>(*t); break;
      case 8: check_logical<std::int64_t>(*t); break;
      case 16: check_logical<Int128>(*t); break;
      default: ADD_FAILURE() << t->name;
    }
  }
}

TEST(Op, minloc_and_maxloc_prefer_the_lower_index_of_equal_values) {
  check_pair<float, int>(type(0x228));
  check_pair<double, int>(type(0x229));
  check_pair<long, int>(type(0x22a));
  check_pair<int, int>(type(0x22b));
  check_pair<short, int>(type(0x22c));
  check_pair<long double, int>(type(0x22d));
  check_pair<float, float>(type(0x230));
  check_pair<double, double>(type(0x231));
  check_pair<int, int>(type(0x232));
}

TEST(Op, bytes_take_bit_operations_only) {
  std::uint8_t in[3] = {0xf0, 0x0f, 0xff}, inout[3] = {0x33, 0x33, 0x33};
  op(OpCode::bxor).apply(in, inout, 3, type(0x247));
  EXPECT_EQ(inout[0], 0xc3);
  EXPECT_EQ(inout[2], 0xcc);
  EXPECT_NE(why_not(op(OpCode::sum), type(0x247)), "");
}

TEST(Op, a_combination_that_is_not_defined_is_refused_with_both_names) {
  EXPECT_EQ(why_not(op(OpCode::sum), type(0x23c)),
            "MPI_SUM is not defined for MPI_WCHAR, only for integers, floating-point and complex numbers");
  EXPECT_NE(why_not(op(OpCode::max), type(0x216)), "");     // complex numbers have no order
  EXPECT_NE(why_not(op(OpCode::band), type(0x214)), "");    // bits of a double
  EXPECT_NE(why_not(op(OpCode::minloc), type(0x209)), "");  // no index
  EXPECT_NE(why_not(op(OpCode::land), type(0x219)), "");    // a Fortran INTEGER is no logical
  EXPECT_NE(why_not(op(OpCode::sum), type(0x207)), "");     // MPI_PACKED
  EXPECT_NE(why_not(op(OpCode::replace), type(0x209)), "");
  for (const HandleBits multi_language : {0x201, 0x202, 0x203}) {
    for (const OpCode logical : {OpCode::land, OpCode::lor, OpCode::lxor})
      EXPECT_EQ(why_not(op(logical), type(multi_language)), "");
  }
  EXPECT_EQ(why_not_accumulate(op(OpCode::replace), type(0x209)), "");
  EXPECT_NE(why_not_accumulate(op(OpCode::sum), type(0x23c)), "");
}

TEST(Op, what_is_allowed_has_a_kernel) {
  for (const Op* one : predefined_ops()) {
    for (const Datatype* t : predefined_datatypes()) {
      if (why_not_accumulate(*one, *t).empty()) {
        EXPECT_NE(find_kernel(one->code(), accumulated_as(*one, *t)), nullptr) << one->name << " " << t->name;
      }
    }
  }
}

TEST(Op, replace_copies_and_no_op_does_not) {
  const int in[2] = {1, 2};
  int inout[2] = {3, 4};
  op(OpCode::no_op).apply(in, inout, 2, type(0x209));
  EXPECT_EQ(inout[0], 3);
  op(OpCode::replace).apply(in, inout, 2, type(0x209));
  EXPECT_EQ(inout[1], 2);
}

TEST(Op, replace_takes_whole_elements_of_every_type_and_no_more) {
  for (const Datatype* t : predefined_datatypes()) {
    if (!why_not_accumulate(op(OpCode::replace), *t).empty()) continue;
    const std::size_t bytes = 3 * static_cast<std::size_t>(t->extent());
    std::vector<unsigned char> in(bytes + 64, 0xa5), inout(bytes + 64, 0x5a);
    for (std::size_t i = 0; i < bytes; ++i) in[i] = static_cast<unsigned char>(i);
    op(OpCode::replace).apply(in.data(), inout.data(), 3, *t);
    EXPECT_EQ(std::memcmp(in.data(), inout.data(), bytes), 0) << t->name;
    const auto behind = inout.begin() + static_cast<std::ptrdiff_t>(bytes);
    EXPECT_EQ(std::count(behind, inout.end(), 0x5a), 64) << t->name;
  }
}

TEST(Op, null_and_unused_constants_have_none) {
  for (HandleBits handle : {0x0, 0x1f, 0x20, 0x25, 0x3f, 0x40}) EXPECT_EQ(predefined_op(handle), nullptr);
}

TEST(Half, every_value_survives_the_way_to_float_and_back) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      EXPECT_EQ(float_to_half(value), half) << bits;
    }
  }
}

TEST(Half, rounding_is_to_nearest_and_ties_go_to_even) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = half_to_float(static_cast<std::uint16_t>(bits));
    const float high = half_to_float(static_cast<std::uint16_t>(bits + 1));
    const float middle = (low + high) / 2;
    EXPECT_EQ(float_to_half(middle), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(float_to_half(std::nextafter(middle, low)), bits);
    EXPECT_EQ(float_to_half(std::nextafter(middle, high)), bits + 1);
  }
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(1e30f), 0x7c00);
  EXPECT_EQ(float_to_half(-1e-30f), 0x8000);
}

TEST(Half, sums_are_made_in_single_precision) {
  const std::uint16_t in[1] = {float_to_half(1.5f)};
  std::uint16_t inout[1] = {float_to_half(2.25f)};
  op(OpCode::sum).apply(in, inout, 1, type(0x2ca));
  EXPECT_EQ(half_to_float(inout[0]), 3.75f);
  const std::uint16_t left[2] = {float_to_half(1), float_to_half(2)};
  std::uint16_t right[2] = {float_to_half(3), float_to_half(4)};
  op(OpCode::prod).apply(left, right, 1, type(0x2d3));
  EXPECT_EQ(half_to_float(right[0]), -5.0f);
  EXPECT_EQ(half_to_float(right[1]), 10.0f);
}

/// Elements with bytes that belong to no value; an operation leaves them as they are.
bool has_padding(Basic basic) {
  constexpr Basic kPadded[] = {Basic::long_double, Basic::complex_long_double, Basic::float64_int,
                               Basic::long_int,    Basic::short_int,           Basic::long_double_int};
  return std::find(std::begin(kPadded), std::end(kPadded), basic) != std::end(kPadded);
}

/// A result elsewhere is the one that overwrites the right operand.
void expect_same_in_third_place(const Op& one, const Datatype& datatype, std::size_t count) {
  const std::size_t extent = info_of(datatype.basic()).extent;
  std::vector<std::byte> in(count * extent), right(in.size()), out(in.size() + extent, std::byte{0x5a});
  std::mt19937 random(11);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<std::byte>(random() & 0x3f);
    right[i] = static_cast<std::byte>(random() & 0x3f);
  }
  const std::vector<std::byte> left = in, before = right;
  one.apply(in.data(), right.data(), out.data(), count, datatype);
  EXPECT_EQ(in, left);
  EXPECT_EQ(right, before);
  EXPECT_EQ(out[in.size()], std::byte{0x5a}) << "wrote behind the end";
  one.apply(in.data(), right.data(), count, datatype);
  if (has_padding(datatype.basic())) return;
  EXPECT_EQ(std::memcmp(out.data(), right.data(), right.size()), 0) << one.name << " " << datatype.name;
}

TEST(Op, the_result_may_have_a_place_of_its_own) {
  for (const Op* one : predefined_ops()) {
    for (const Datatype* t : predefined_datatypes()) {
      if (t->basic() == Basic::none || find_kernel(one->code(), t->basic()) == nullptr) continue;
      // Less than a block, blocks that fetch nothing, blocks that fetch ahead; each with a rest.
      for (const std::size_t count : {3u, 77u, 5003u}) expect_same_in_third_place(*one, *t, count);
    }
  }
}

struct Call {
  const void* in;
  void* inout;
  std::int64_t count;
  HandleBits datatype;
};
std::vector<Call> calls;
void record(Op::AnyFunction, const void* in, void* inout, std::int64_t count, HandleBits datatype) {
  calls.push_back({in, inout, count, datatype});
}

TEST(UserOp, long_counts_come_in_chunks_that_follow_each_other) {
  calls.clear();
  const Op user(nullptr, record, 4, false);
  int in[10] = {}, inout[10] = {};
  user.apply(in, inout, 10, type(0x209));
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].count, 4);
  EXPECT_EQ(calls[2].count, 2);
  EXPECT_EQ(calls[2].in, in + 8);
  EXPECT_EQ(calls[2].inout, inout + 8);
  EXPECT_EQ(calls[2].datatype, 0x209u);
  EXPECT_FALSE(user.commutative());
  EXPECT_EQ(why_not(user, type(0x23c)), "");
}

void add(Op::AnyFunction, const void* in, void* inout, std::int64_t count, HandleBits) {
  for (std::int64_t i = 0; i < count; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

TEST(UserOp, the_result_may_have_a_place_of_its_own) {
  const Op user(nullptr, add, 4, true);
  const int in[6] = {1, 2, 3, 4, 5, 6}, right[6] = {10, 20, 30, 40, 50, 60};
  int out[7] = {};
  user.apply(in, right, out, 6, type(0x209));
  const int expected[7] = {11, 22, 33, 44, 55, 66, 0};
  EXPECT_EQ(std::memcmp(out, expected, sizeof out), 0);
}

TEST(UserOp, no_elements_make_no_call) {
  calls.clear();
  const Op user(nullptr, record, 4, true);
  user.apply(nullptr, nullptr, 0, type(0x209));
  EXPECT_TRUE(calls.empty());
}

}  // namespace
}  // namespace starling::mpi
