// SPDX-License-Identifier: BSD-3-Clause
// Parameterised Fortran types. The kinds are those of gfortran and flang on 64-bit machines.
#include "mpi/datatype/f90.hpp"

#include <map>
#include <tuple>

#include "mpi/datatype/predefined.hpp"

namespace starling::mpi {
namespace {

struct Kind {
  int precision;  ///< decimal digits; 0 for integers
  int range;      ///< decimal exponent range
  Basic real, complex;
};
constexpr Kind kReals[] = {{6, 37, Basic::float32, Basic::complex32},
                           {15, 307, Basic::float64, Basic::complex64},
                           {18, 4931, Basic::long_double, Basic::complex_long_double},
                           {33, 4931, Basic::float128, Basic::complex128}};
constexpr Kind kIntegers[] = {{0, 2, Basic::int8, Basic::none},
                              {0, 4, Basic::int16, Basic::none},
                              {0, 9, Basic::int32, Basic::none},
                              {0, 18, Basic::int64, Basic::none},
                              {0, 38, Basic::int128, Basic::none}};

Basic basic_for(Combiner combiner, int precision, int range) {
  if (combiner == Combiner::f90_integer) {
    for (const Kind& kind : kIntegers) {
      if (range <= kind.range) return kind.real;
    }
    return Basic::none;
  }
  for (const Kind& kind : kReals) {
    // Where long double is no 80-bit format there is no kind of 18 digits.
    if (kind.real == Basic::long_double && info_of(Basic::long_double).bytes != 16) continue;
    if ((precision == kNoDemand || precision <= kind.precision) &&
        (range == kNoDemand || range <= kind.range)) {
      return combiner == Combiner::f90_real ? kind.real : kind.complex;
    }
  }
  return Basic::none;
}

ShapePtr f90_shape(Combiner combiner, int precision, int range, Basic basic) {
  const BasicInfo& info = info_of(basic);
  auto shape = std::make_shared<Shape>();
  shape->map = {0, make_leaf(basic)};
  shape->ub = info.extent;
  shape->align = info.align;
  shape->basic = basic;
  shape->op_class = combiner == Combiner::f90_integer   ? OpClass::fortran_integer
                    : combiner == Combiner::f90_complex ? OpClass::complex
                                                        : OpClass::floating;
  shape->contents.combiner = combiner;
  std::vector<std::int64_t> arguments{range};
  if (combiner != Combiner::f90_integer) arguments.insert(arguments.begin(), precision);
  shape->contents.arguments.push_back({Contents::Sort::integer, std::move(arguments)});
  return shape;
}

}  // namespace

Datatype* f90_type(Combiner combiner, int precision, int range) {
  if (combiner == Combiner::f90_integer) precision = 0;
  using Key = std::tuple<Combiner, int, int>;
  static auto* const made = new std::map<Key, Datatype*>;
  const Key key{combiner, precision, range};
  if (const auto known = made->find(key); known != made->end()) return known->second;
  const Basic basic = basic_for(combiner, precision, range);
  if (basic == Basic::none) return nullptr;
  auto* const type = new Datatype(f90_shape(combiner, precision, range, basic));
  type->commit();
  made->emplace(key, type);
  return type;
}

bool is_f90(Combiner combiner) noexcept {
  return combiner == Combiner::f90_real || combiner == Combiner::f90_complex ||
         combiner == Combiner::f90_integer;
}

Datatype* type_of_size(TypeClass type_class, int bytes) noexcept {
  struct Row {
    int bytes;
    HandleBits logical, integer, real, complex;
  };
  static constexpr Row kRows[] = {{1, 0x2c0, 0x2c1, 0, 0},          {2, 0x2c8, 0x2c9, 0x2ca, 0},
                                  {4, 0x2d0, 0x2d1, 0x2d2, 0x2d3},  {8, 0x2d8, 0x2d9, 0x2da, 0x2db},
                                  {16, 0x2e0, 0x2e1, 0x2e2, 0x2e3}, {32, 0, 0, 0, 0x2eb}};
  for (const Row& row : kRows) {
    if (row.bytes != bytes) continue;
    switch (type_class) {
      case TypeClass::logical: return predefined_datatype(row.logical);
      case TypeClass::integer: return predefined_datatype(row.integer);
      case TypeClass::real: return predefined_datatype(row.real);
      case TypeClass::complex: return predefined_datatype(row.complex);
    }
  }
  return nullptr;
}

Datatype* pair_of(const Datatype& value, const Datatype& index) noexcept {
  struct Row {
    HandleBits value, index, pair;
  };
  static constexpr Row kRows[] = {{0x210, 0x209, 0x228}, {0x214, 0x209, 0x229}, {0x20a, 0x209, 0x22a},
                                  {0x209, 0x209, 0x22b}, {0x208, 0x209, 0x22c}, {0x220, 0x209, 0x22d},
                                  {0x21a, 0x21a, 0x230}, {0x21c, 0x21c, 0x231}, {0x219, 0x219, 0x232}};
  for (const Row& row : kRows) {
    if (row.value == value.handle() && row.index == index.handle()) return predefined_datatype(row.pair);
  }
  return nullptr;
}

}  // namespace starling::mpi
