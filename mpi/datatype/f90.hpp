// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Types of parameterised Fortran kinds, and types found by size. Layer: mpi. MPI 5.0 section 19.1.5.
///
/// Threads:   under the runtime's lock: the types are made at the first request and kept.
/// Ownership: the process's; they are predefined unnamed types and never freed.

#include "mpi/datatype/datatype.hpp"

namespace starling::mpi {

/// What the standard calls MPI_UNDEFINED for precision or range.
inline constexpr int kNoDemand = -32766;

/// The type for selected_real_kind(p, r) and its kind; the combiner is f90_real, f90_complex or f90_integer
/// (which has a range only). Null if no kind is so precise or wide.
[[nodiscard]] Datatype* f90_type(Combiner combiner, int precision, int range);
/// The combiner of a type that f90_type made.
[[nodiscard]] bool is_f90(Combiner combiner) noexcept;

enum class TypeClass { logical, integer, real, complex };
/// The Fortran type of this class with this many bytes (MPI_Type_match_size); null if there is none.
[[nodiscard]] Datatype* type_of_size(TypeClass type_class, int bytes) noexcept;
/// The pair type of MINLOC and MAXLOC with these parts, else null (MPI_Type_get_value_index).
[[nodiscard]] Datatype* pair_of(const Datatype& value, const Datatype& index) noexcept;

}  // namespace starling::mpi
