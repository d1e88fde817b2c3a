// SPDX-License-Identifier: BSD-3-Clause
// Types of Fortran kinds, by size, and pairs. Layer: mpi. MPI 5.0 sections 6.9.4 and 19.1.5.
#include "mpi/datatype/f90.hpp"

#include <string>

#include "mpi/api/datatype/common.hpp"

namespace starling::mpi::api {
namespace {

static_assert(kNoDemand == MPI_UNDEFINED);

int give_f90(Combiner combiner, int p, int r, MPI_Datatype* newtype) {
  Datatype* const type = f90_type(combiner, p, r);
  if (type == nullptr) {
    return error(MPI_ERR_ARG,
                 "no Fortran kind has precision " + std::to_string(p) + " and range " + std::to_string(r));
  }
  if (type->handle() != 0) {
    *newtype = as_handle<MPI_Datatype>(type->handle());
    return MPI_SUCCESS;
  }
  return give(Ref<Datatype>::share(type), newtype);
}

/// Section 19.1.5: one of the two may be left to MPI, not both.
int no_demand() {
  return error(MPI_ERR_ARG, "p and r are both MPI_UNDEFINED, expected a precision or a range");
}

}  // namespace

int Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED) return no_demand();
  return give_f90(Combiner::f90_real, p, r, newtype);
}
int Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED) return no_demand();
  return give_f90(Combiner::f90_complex, p, r, newtype);
}
int Type_create_f90_integer(int r, MPI_Datatype* newtype) {
  return give_f90(Combiner::f90_integer, 0, r, newtype);
}

int Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  Datatype* type = nullptr;
  switch (typeclass) {
    case MPIX_TYPECLASS_LOGICAL: type = type_of_size(TypeClass::logical, size); break;
    case MPI_TYPECLASS_INTEGER: type = type_of_size(TypeClass::integer, size); break;
    case MPI_TYPECLASS_REAL: type = type_of_size(TypeClass::real, size); break;
    case MPI_TYPECLASS_COMPLEX: type = type_of_size(TypeClass::complex, size); break;
    default:
      return error(MPI_ERR_ARG,
                   "typeclass is " + std::to_string(typeclass) +
                       ", expected MPI_TYPECLASS_REAL, MPI_TYPECLASS_INTEGER or MPI_TYPECLASS_COMPLEX");
  }
  if (type == nullptr)
    return error(MPI_ERR_ARG, "size is " + std::to_string(size) + ", no Fortran type of this class has it");
  *datatype = as_handle<MPI_Datatype>(type->handle());
  return MPI_SUCCESS;
}

int Type_get_value_index(Datatype& value_type, Datatype& index_type, MPI_Datatype* pair_type) {
  const Datatype* const pair = pair_of(value_type, index_type);
  *pair_type = pair == nullptr ? MPI_DATATYPE_NULL : as_handle<MPI_Datatype>(pair->handle());
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
