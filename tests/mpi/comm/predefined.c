/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined communicators, their groups and names, MPI_Comm_test_inter, and the parent that a process
 * which was not spawned does not have (MPI-4, 7.2, 7.8, 7.6, 11.8.2). */
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
  MPI_Comm parent = MPI_COMM_WORLD;
  OK(MPI_Comm_get_parent(&parent));
  CHECK(parent == MPI_COMM_NULL);
  return finish();
}
