/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create: groups of any proportion, the peer communicator at the leaders only, messages between
 * the groups; the accessors (MPI 5.0, 7.6.1, 7.6.2). np: 2+ */
#include "inter.h"

/* A peer communicator of the leaders alone, with a tag of theirs. */
static void own_peer(const Bridge* b) {
  MPI_Comm peer, made;
  int leader = b->me == 0;
  OK(MPI_Comm_split(MPI_COMM_WORLD, leader ? 0 : MPI_UNDEFINED, b->side, &peer));
  OK(MPI_Intercomm_create(b->local, 0, peer, 1 - b->side, 0, &made));
  check_groups(made, b->here, b->mine, b->there, b->others);
  if (leader) OK(MPI_Comm_free(&peer));
  check_messages(made, b->me, b->there, b->others);
  OK(MPI_Comm_free(&made));
}

/* The creation takes no message of the user's, nor a wildcard receive of the user's one of its. */
static void beside_messages(const Bridge* b) {
  const int leader = b->me == 0, other = b->there[0];
  int out = 5, in = -1;
  MPI_Request requests[2];
  MPI_Comm made;
  if (leader) {
    OK(MPI_Isend(&out, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&in, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &requests[1]));
  }
  OK(MPI_Intercomm_create(b->local, 0, MPI_COMM_WORLD, other, 3, &made));
  if (leader) OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  if (leader) CHECK_EQ(in, 5);
  OK(MPI_Comm_free(&made));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int inter;
  OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &inter));
  CHECK_EQ(inter, 0);
  for (int shape = 0; shape < SHAPES; ++shape) {
    for (int backwards = 0; backwards < 2; ++backwards) {
      Bridge b = build_bridge(shape, backwards);
      check_groups(b.between, b.here, b.mine, b.there, b.others);
      check_messages(b.between, b.me, b.there, b.others);
      own_peer(&b);
      beside_messages(&b);
      free_bridge(&b);
    }
  }
  return finish();
}
