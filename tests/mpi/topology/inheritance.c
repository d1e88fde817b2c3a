/* SPDX-License-Identifier: BSD-3-Clause */
/* A duplicate has the topology of its original, also after that is gone; other new communicators have none
 * (MPI-4, 8.2, 7.4.2). */
#include "check.h"

static void check_kind(MPI_Comm original, int kind, int at_once) {
  MPI_Comm copy, part;
  MPI_Request request;
  MPI_Group group;
  int status, in, out, weighted, dims[1], periods[1], coords[1];
  if (at_once) {
    OK(MPI_Comm_dup(original, &copy));
  } else {
    OK(MPI_Comm_idup(original, &copy, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  OK(MPI_Comm_split(original, 0, 0, &part));
  OK(MPI_Topo_test(part, &status));
  CHECK_EQ(status, MPI_UNDEFINED);
  OK(MPI_Comm_free(&part));
  OK(MPI_Comm_group(original, &group));
  OK(MPI_Comm_create(original, group, &part));
  OK(MPI_Topo_test(part, &status));
  CHECK_EQ(status, MPI_UNDEFINED);
  OK(MPI_Comm_free(&part));
  OK(MPI_Group_free(&group));
  OK(MPI_Comm_free(&original));
  OK(MPI_Topo_test(copy, &status));
  CHECK_EQ(status, kind);
  if (kind == MPI_CART) {
    OK(MPI_Cart_get(copy, 1, dims, periods, coords));
    CHECK_EQ(dims[0], world_size());
    CHECK_EQ(coords[0], world_rank());
  } else if (kind == MPI_DIST_GRAPH) {
    OK(MPI_Dist_graph_neighbors_count(copy, &in, &out, &weighted));
    CHECK_EQ(in, 1);
    CHECK_EQ(out, 1);
  }
  int mine = world_rank();
  int all[2];
  OK(MPI_Neighbor_allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, copy));
  CHECK_EQ(all[0], (mine + world_size() - 1) % world_size());
  OK(MPI_Comm_free(&copy));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size(), yes = 1, left = (me + size - 1) % size;
  const int right = (me + 1) % size;
  int status;
  MPI_Comm comm;
  OK(MPI_Topo_test(MPI_COMM_WORLD, &status));
  CHECK_EQ(status, MPI_UNDEFINED);
  for (int at_once = 0; at_once < 2; ++at_once) {
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &yes, 1, &comm));
    check_kind(comm, MPI_CART, at_once);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &comm));
    check_kind(comm, MPI_DIST_GRAPH, at_once);
  }
  return finish();
}
