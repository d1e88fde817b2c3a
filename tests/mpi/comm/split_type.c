/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split_type with MPI_COMM_TYPE_SHARED joins processes that can share memory; the key orders them;
 * MPI_UNDEFINED stays out (MPI-4, 7.4.2). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  MPI_Comm node;
  int rank, number, length;
  OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -me, MPI_INFO_NULL, &node));
  OK(MPI_Comm_rank(node, &rank));
  OK(MPI_Comm_size(node, &number));
  CHECK(number >= 1 && number <= size);

  /* Members have one processor name and come in the order of their keys. */
  char mine[MPI_MAX_PROCESSOR_NAME] = "", first[MPI_MAX_PROCESSOR_NAME];
  OK(MPI_Get_processor_name(mine, &length));
  memcpy(first, mine, sizeof first);
  OK(MPI_Bcast(first, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0, node));
  CHECK(strcmp(mine, first) == 0);
  int* worlds = malloc((size_t)number * sizeof(int));
  OK(MPI_Allgather(&me, 1, MPI_INT, worlds, 1, MPI_INT, node));
  for (int i = 1; i < number; ++i) CHECK(worlds[i] < worlds[i - 1]);
  CHECK_EQ(worlds[rank], me);
  free(worlds);
  OK(MPI_Comm_free(&node));

  OK(MPI_Comm_split_type(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                         &node));
  if (me == 0)
    CHECK(node == MPI_COMM_NULL);
  else
    OK(MPI_Comm_free(&node));
  return finish();
}
