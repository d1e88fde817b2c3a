/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined communicators, their groups and names, and MPI_Comm_test_inter (MPI-4, 7.2, 7.8, 7.6). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int number, rank, flag = 1, length;
  char name[MPI_MAX_OBJECT_NAME];
  OK(MPI_Comm_size(MPI_COMM_SELF, &number));
  OK(MPI_Comm_rank(MPI_COMM_SELF, &rank));
  CHECK_EQ(number, 1);
  CHECK_EQ(rank, 0);
  OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &flag));
  CHECK(!flag);
  OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
  CHECK_EQ(length, (int)strlen(name));
  OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
  CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
  MPI_Comm copy;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  OK(MPI_Comm_set_name(copy, "a copy"));
  OK(MPI_Comm_get_name(copy, name, &length));
  CHECK(strcmp(name, "a copy") == 0);
  OK(MPI_Comm_free(&copy));
  return finish();
}
