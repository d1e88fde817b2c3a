/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made, used and freed by several threads at once, each from a parent of its own; groups of one
 * parent are kept apart by tags (MPI 5.0, 7.4.2, 11.6.2). */
#include "threads.h"

enum { ROUNDS = 12 };

/* Even and odd ranks, joined again. */
static void two_groups(MPI_Comm parent, int rank, int size, int salt) {
  MPI_Comm half, between, all;
  OK(MPI_Comm_split(parent, rank % 2, 0, &half));
  if (size > 1) {
    OK(MPI_Intercomm_create(half, 0, parent, 1 - rank % 2, salt, &between));
    OK(MPI_Intercomm_merge(between, rank % 2, &all));
    check_sum(all, salt);
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_free(&between));
  }
  check_sum(half, salt);
  OK(MPI_Comm_free(&half));
}

static void* work(void* argument) {
  const Worker* const self = argument;
  int rank, size;
  OK(MPI_Comm_rank(self->comm, &rank));
  OK(MPI_Comm_size(self->comm, &size));
  for (int round = 0; round < ROUNDS; ++round) {
    const int salt = self->id * 100 + round;
    MPI_Comm made, later;
    MPI_Request request;
    MPI_Group group;
    OK(MPI_Comm_dup(self->comm, &made));
    OK(MPI_Comm_idup(made, &later, &request));
    check_sum(made, salt);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&made));
    check_sum(later, salt + 1);
    OK(MPI_Comm_free(&later));
    OK(MPI_Comm_split(self->comm, rank % 2, -rank, &made));
    check_sum(made, salt);
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, self->id, &made)); /* one parent for all threads */
    check_sum(made, salt);
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_create(self->comm, group, &made));
    check_sum(made, salt);
    OK(MPI_Comm_free(&made));
    OK(MPI_Group_free(&group));
    two_groups(self->comm, rank, size, salt);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  run_with_duplicates(work);
  return finish();
}
