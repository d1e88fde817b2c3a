// SPDX-License-Identifier: BSD-3-Clause
// Types of Fortran kinds, types found by size, pairs found by their parts.
#include "mpi/datatype/f90.hpp"

#include <gtest/gtest.h>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/predefined.hpp"

namespace starling::mpi {
namespace {

Basic real(int precision, int range) {
  const Datatype* const type = f90_type(Combiner::f90_real, precision, range);
  return type == nullptr ? Basic::none : type->basic();
}

TEST(F90, the_smallest_kind_that_satisfies_the_demand_is_taken) {
  EXPECT_EQ(real(6, 37), Basic::float32);
  EXPECT_EQ(real(7, kNoDemand), Basic::float64);
  EXPECT_EQ(real(kNoDemand, 38), Basic::float64);
  EXPECT_EQ(real(kNoDemand, 308), Basic::long_double);
  EXPECT_EQ(real(30, kNoDemand), Basic::float128);
  EXPECT_EQ(real(34, kNoDemand), Basic::none);
  EXPECT_EQ(f90_type(Combiner::f90_complex, 15, 307)->basic(), Basic::complex64);
  EXPECT_EQ(f90_type(Combiner::f90_integer, 0, 9)->basic(), Basic::int32);
  EXPECT_EQ(f90_type(Combiner::f90_integer, 0, 10)->basic(), Basic::int64);
  EXPECT_EQ(f90_type(Combiner::f90_integer, 0, 39), nullptr);
}

TEST(F90, the_same_demand_gives_the_same_type_that_knows_its_arguments) {
  Datatype* const first = f90_type(Combiner::f90_real, 10, 100);
  EXPECT_EQ(f90_type(Combiner::f90_real, 10, 100), first);
  EXPECT_NE(f90_type(Combiner::f90_real, 11, 100), first);
  EXPECT_TRUE(first->committed());
  EXPECT_TRUE(is_f90(first->contents().combiner));
  EXPECT_EQ(first->contents().arguments[0].values, (std::vector<std::int64_t>{10, 100}));
  EXPECT_EQ(object_of(first->shape()).get(), first);
}

TEST(F90, types_are_found_by_class_and_size) {
  EXPECT_EQ(type_of_size(TypeClass::real, 8)->name, "MPI_REAL8");
  EXPECT_EQ(type_of_size(TypeClass::integer, 1)->name, "MPI_INTEGER1");
  EXPECT_EQ(type_of_size(TypeClass::complex, 32)->name, "MPI_COMPLEX32");
  EXPECT_EQ(type_of_size(TypeClass::logical, 4)->name, "MPI_LOGICAL4");
  EXPECT_EQ(type_of_size(TypeClass::real, 3), nullptr);
  EXPECT_EQ(type_of_size(TypeClass::complex, 2), nullptr);
}

TEST(F90, pairs_are_found_by_their_parts) {
  const auto& value = *predefined_datatype(0x214);
  const auto& index = *predefined_datatype(0x209);
  EXPECT_EQ(pair_of(value, index)->name, "MPI_DOUBLE_INT");
  EXPECT_EQ(pair_of(index, index)->name, "MPI_2INT");
  EXPECT_EQ(pair_of(index, value), nullptr);
}

}  // namespace
}  // namespace starling::mpi
