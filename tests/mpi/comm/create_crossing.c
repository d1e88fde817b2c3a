/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made by MPI_Comm_create, of groups with other first members, some of them disjoint in one
 * call, all alive: messages with the same tag in all of them stay in theirs (MPI 5.0, 7.4.2). np: 2+ */
#include "check.h"

enum { SETS = 6, TAG = 7 };

/* Of the members of the world with the parity of `rank`, or all: from `first` on, and around; backwards. */
static MPI_Comm make(int set, int rank, int size) {
  int ranks[64], count = 0;
  MPI_Group world, group;
  MPI_Comm made;
  for (int i = 0; i < size; ++i) {
    const int member = (size + set - i) % size;
    if (set % 3 != 2 || member % 2 == rank % 2) ranks[count++] = member;
  }
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_incl(world, count, ranks, &group));
  OK(MPI_Comm_create(MPI_COMM_WORLD, group, &made));
  OK(MPI_Group_free(&group));
  OK(MPI_Group_free(&world));
  return made;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  MPI_Comm comms[SETS];
  MPI_Request sends[SETS];
  int out[SETS][2], in[2], rank, members;
  if (size > 64) return finish();
  for (int set = 0; set < SETS; ++set) {
    comms[set] = make(set, me, size);
    CHECK(comms[set] != MPI_COMM_NULL);
  }
  for (int round = 0; round < 20; ++round) {
    for (int set = 0; set < SETS; ++set) {
      OK(MPI_Comm_rank(comms[set], &rank));
      OK(MPI_Comm_size(comms[set], &members));
      out[set][0] = set;
      out[set][1] = round;
      OK(MPI_Isend(out[set], 2, MPI_INT, (rank + 1) % members, TAG, comms[set], &sends[set]));
    }
    for (int set = SETS - 1; set >= 0; --set) { /* the last one first */
      MPI_Status status;
      OK(MPI_Comm_rank(comms[set], &rank));
      OK(MPI_Comm_size(comms[set], &members));
      OK(MPI_Recv(in, 2, MPI_INT, MPI_ANY_SOURCE, TAG, comms[set], &status));
      CHECK_EQ(in[0], set);
      CHECK_EQ(in[1], round);
      CHECK_EQ(status.MPI_SOURCE, (rank + members - 1) % members);
    }
    OK(MPI_Waitall(SETS, sends, MPI_STATUSES_IGNORE));
    /* Collectives do not mix, either. */
    for (int set = 0; set < SETS; ++set) {
      int sum = -1, value = 1 << set;
      OK(MPI_Comm_size(comms[set], &members));
      OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[set]));
      CHECK_EQ(sum, members << set);
    }
  }
  for (int set = 0; set < SETS; ++set) OK(MPI_Comm_free(&comms[set]));
  return finish();
}
