/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 19.1.5: types for Fortran kinds by precision and range. The same demand gives the same
 * handle, which cannot be freed; the envelope tells the demand. np: 1 */
#include "check.h"

static void check_type(MPI_Datatype type, int want_bytes, int want_combiner, int demands, const int* wanted) {
  int bytes, ints, addresses, types, combiner, got[2];
  OK(MPI_Type_size(type, &bytes));
  CHECK_EQ(bytes, want_bytes);
  OK(MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
  CHECK_EQ(combiner, want_combiner);
  CHECK_EQ(ints, demands);
  CHECK_EQ(addresses, 0);
  CHECK_EQ(types, 0);
  OK(MPI_Type_get_contents(type, demands, 0, 0, got, NULL, NULL));
  for (int i = 0; i < demands; ++i) CHECK_EQ(got[i], wanted[i]);
}

static void kinds(void) {
  const int single[2] = {6, 37}, twice[2] = {15, MPI_UNDEFINED}, range[2] = {MPI_UNDEFINED, 300}, nine = 9;
  const int eighteen = 18;
  MPI_Datatype type;
  OK(MPI_Type_create_f90_real(6, 37, &type));
  check_type(type, 4, MPI_COMBINER_F90_REAL, 2, single);
  OK(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type));
  check_type(type, 8, MPI_COMBINER_F90_REAL, 2, twice);
  OK(MPI_Type_create_f90_complex(MPI_UNDEFINED, 300, &type));
  check_type(type, 16, MPI_COMBINER_F90_COMPLEX, 2, range);
  OK(MPI_Type_create_f90_integer(9, &type));
  check_type(type, 4, MPI_COMBINER_F90_INTEGER, 1, &nine);
  OK(MPI_Type_create_f90_integer(18, &type));
  check_type(type, 8, MPI_COMBINER_F90_INTEGER, 1, &eighteen);
}

/* They are predefined, unnamed and committed: they can be sent and reduced at once. */
static void use(void) {
  double sum[2] = {0, 0}, part[2] = {1.5, -2};
  MPI_Datatype type, again;
  OK(MPI_Type_create_f90_real(15, 307, &type));
  OK(MPI_Type_create_f90_real(15, 307, &again));
  CHECK(type == again);
  OK(MPI_Allreduce(part, sum, 2, type, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum[0] == 1.5 * world_size() && sum[1] == -2.0 * world_size());
  CHECK(MPI_Type_free(&again) != MPI_SUCCESS);
  CHECK(again == type);
}

static void refused(void) {
  MPI_Datatype type;
  CHECK(MPI_Type_create_f90_real(1000, 2, &type) != MPI_SUCCESS);
  CHECK(MPI_Type_create_f90_complex(2, 1000000, &type) != MPI_SUCCESS);
  CHECK(MPI_Type_create_f90_integer(1000, &type) != MPI_SUCCESS);
  CHECK(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type) !=
        MPI_SUCCESS); /* one may be left out */
  CHECK(MPI_Type_create_f90_complex(MPI_UNDEFINED, MPI_UNDEFINED, &type) != MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  kinds();
  use();
  refused();
  return finish();
}
