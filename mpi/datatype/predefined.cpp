// SPDX-License-Identifier: BSD-3-Clause
// The table of predefined types. Fortran's default kinds are those of gfortran and its relatives without
// options: INTEGER, REAL and LOGICAL of 4 bytes.
#include "mpi/datatype/predefined.hpp"

#include <array>
#include <type_traits>

namespace starling::mpi {
namespace {

struct Named {
  HandleBits handle;
  const char* name;
  Basic basic;
  OpClass op_class;
};

constexpr Basic kLong = Basic::c_long;
// Section 6.9.2 keeps it, as text, out of reductions; MPICH and Open MPI take it as a number, and so do
// programs.
constexpr Basic kChar = std::is_signed_v<char> ? Basic::int8 : Basic::uint8;
constexpr Basic kUnsignedLong = Basic::c_unsigned_long;

constexpr Named kNamed[] = {
    {0x201, "MPI_AINT", Basic::int64, OpClass::multi_language},
    {0x202, "MPI_COUNT", Basic::int64, OpClass::multi_language},
    {0x203, "MPI_OFFSET", Basic::int64, OpClass::multi_language},
    {0x207, "MPI_PACKED", Basic::packed, OpClass::none},
    {0x208, "MPI_SHORT", Basic::int16, OpClass::c_integer},
    {0x209, "MPI_INT", Basic::int32, OpClass::c_integer},
    {0x20a, "MPI_LONG", kLong, OpClass::c_integer},
    {0x20b, "MPI_LONG_LONG_INT", Basic::int64, OpClass::c_integer},
    {0x20c, "MPI_UNSIGNED_SHORT", Basic::uint16, OpClass::c_integer},
    {0x20d, "MPI_UNSIGNED", Basic::uint32, OpClass::c_integer},
    {0x20e, "MPI_UNSIGNED_LONG", kUnsignedLong, OpClass::c_integer},
    {0x20f, "MPI_UNSIGNED_LONG_LONG", Basic::uint64, OpClass::c_integer},
    {0x210, "MPI_FLOAT", Basic::float32, OpClass::floating},
    {0x212, "MPI_C_COMPLEX", Basic::complex32, OpClass::complex},
    {0x213, "MPI_CXX_FLOAT_COMPLEX", Basic::complex32, OpClass::complex},
    {0x214, "MPI_DOUBLE", Basic::float64, OpClass::floating},
    {0x216, "MPI_C_DOUBLE_COMPLEX", Basic::complex64, OpClass::complex},
    {0x217, "MPI_CXX_DOUBLE_COMPLEX", Basic::complex64, OpClass::complex},
    {0x218, "MPI_LOGICAL", Basic::logical32, OpClass::logical},
    {0x219, "MPI_INTEGER", Basic::int32, OpClass::fortran_integer},
    {0x21a, "MPI_REAL", Basic::float32, OpClass::floating},
    {0x21b, "MPI_COMPLEX", Basic::complex32, OpClass::complex},
    {0x21c, "MPI_DOUBLE_PRECISION", Basic::float64, OpClass::floating},
    {0x21d, "MPI_DOUBLE_COMPLEX", Basic::complex64, OpClass::complex},
    {0x21e, "MPI_CHARACTER", Basic::character, OpClass::none},
    {0x220, "MPI_LONG_DOUBLE", Basic::long_double, OpClass::floating},
    {0x224, "MPI_C_LONG_DOUBLE_COMPLEX", Basic::complex_long_double, OpClass::complex},
    {0x225, "MPI_CXX_LONG_DOUBLE_COMPLEX", Basic::complex_long_double, OpClass::complex},
    {0x228, "MPI_FLOAT_INT", Basic::float32_int, OpClass::pair},
    {0x229, "MPI_DOUBLE_INT", Basic::float64_int, OpClass::pair},
    {0x22a, "MPI_LONG_INT", Basic::long_int, OpClass::pair},
    {0x22b, "MPI_2INT", Basic::int32_pair, OpClass::pair},
    {0x22c, "MPI_SHORT_INT", Basic::short_int, OpClass::pair},
    {0x22d, "MPI_LONG_DOUBLE_INT", Basic::long_double_int, OpClass::pair},
    {0x230, "MPI_2REAL", Basic::float32_pair, OpClass::pair},
    {0x231, "MPI_2DOUBLE_PRECISION", Basic::float64_pair, OpClass::pair},
    {0x232, "MPI_2INTEGER", Basic::int32_pair, OpClass::pair},
    {0x238, "MPI_C_BOOL", Basic::boolean, OpClass::logical},
    {0x239, "MPI_CXX_BOOL", Basic::boolean, OpClass::logical},
    {0x23c, "MPI_WCHAR", Basic::wide_character, OpClass::none},
    {0x240, "MPI_INT8_T", Basic::int8, OpClass::c_integer},
    {0x241, "MPI_UINT8_T", Basic::uint8, OpClass::c_integer},
    {0x243, "MPI_CHAR", kChar, OpClass::c_integer},
    {0x244, "MPI_SIGNED_CHAR", Basic::int8, OpClass::c_integer},
    {0x245, "MPI_UNSIGNED_CHAR", Basic::uint8, OpClass::c_integer},
    {0x247, "MPI_BYTE", Basic::byte, OpClass::byte},
    {0x248, "MPI_INT16_T", Basic::int16, OpClass::c_integer},
    {0x249, "MPI_UINT16_T", Basic::uint16, OpClass::c_integer},
    {0x250, "MPI_INT32_T", Basic::int32, OpClass::c_integer},
    {0x251, "MPI_UINT32_T", Basic::uint32, OpClass::c_integer},
    {0x258, "MPI_INT64_T", Basic::int64, OpClass::c_integer},
    {0x259, "MPI_UINT64_T", Basic::uint64, OpClass::c_integer},
    {0x2c0, "MPI_LOGICAL1", Basic::logical8, OpClass::logical},
    {0x2c1, "MPI_INTEGER1", Basic::int8, OpClass::fortran_integer},
    {0x2c8, "MPI_LOGICAL2", Basic::logical16, OpClass::logical},
    {0x2c9, "MPI_INTEGER2", Basic::int16, OpClass::fortran_integer},
    {0x2ca, "MPI_REAL2", Basic::float16, OpClass::floating},
    {0x2d0, "MPI_LOGICAL4", Basic::logical32, OpClass::logical},
    {0x2d1, "MPI_INTEGER4", Basic::int32, OpClass::fortran_integer},
    {0x2d2, "MPI_REAL4", Basic::float32, OpClass::floating},
    {0x2d3, "MPI_COMPLEX4", Basic::complex16, OpClass::complex},
    {0x2d8, "MPI_LOGICAL8", Basic::logical64, OpClass::logical},
    {0x2d9, "MPI_INTEGER8", Basic::int64, OpClass::fortran_integer},
    {0x2da, "MPI_REAL8", Basic::float64, OpClass::floating},
    {0x2db, "MPI_COMPLEX8", Basic::complex32, OpClass::complex},
    {0x2e0, "MPI_LOGICAL16", Basic::logical128, OpClass::logical},
    {0x2e1, "MPI_INTEGER16", Basic::int128, OpClass::fortran_integer},
    {0x2e2, "MPI_REAL16", Basic::float128, OpClass::floating},
    {0x2e3, "MPI_COMPLEX16", Basic::complex64, OpClass::complex},
    {0x2eb, "MPI_COMPLEX32", Basic::complex128, OpClass::complex},
};

ShapePtr shape_of(const Named& named) {
  const BasicInfo& info = info_of(named.basic);
  auto shape = std::make_shared<Shape>();
  shape->map = {0, make_leaf(named.basic)};
  shape->ub = info.extent;
  shape->align = info.align;
  shape->basic = named.basic;
  shape->op_class = named.op_class;
  shape->predefined = named.handle;
  return shape;
}

constexpr HandleBits kFirst = 0x200;
using Types = std::array<Datatype*, 256>;

/// Never destroyed: user code in static destructors and atexit handlers may still name predefined types.
const Types& types() {
  static const Types* const made = [] {
    auto* all = new Types{};
    for (const Named& named : kNamed) {
      auto* type = new Datatype(shape_of(named));
      type->set_handle(named.handle);
      type->name = named.name;
      type->commit();
      (*all)[named.handle - kFirst] = type;
    }
    return all;
  }();
  return *made;
}

}  // namespace

Datatype* predefined_datatype(HandleBits handle) noexcept {
  if (handle < kFirst || handle >= kFirst + std::tuple_size_v<Types>) return nullptr;
  return types()[handle - kFirst];
}

std::vector<Datatype*> predefined_datatypes() {
  std::vector<Datatype*> all;
  for (const Named& named : kNamed) all.push_back(predefined_datatype(named.handle));
  return all;
}

}  // namespace starling::mpi
