/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator has the error handler of the one that it was made from, as it is then; intercommunicators
 * that of the local one (MPI 5.0, 9.3). */
#include "check.h"

static int calls;

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++calls;
}

/* `made` has our handler: it is told, and called. Frees `made`. A null communicator is that of a process that
 * was left out. */
static void check_inherited(const char* how, MPI_Comm made, MPI_Errhandler expected) {
  MPI_Errhandler found;
  int value = 0;
  if (made == MPI_COMM_NULL) return;
  OK(MPI_Comm_get_errhandler(made, &found));
  if (found != expected) fprintf(stderr, "MPI_Comm_%s has given another handler\n", how);
  CHECK(found == expected);
  OK(MPI_Errhandler_free(&found));
  const int before = calls;
  MPI_Send(&value, -1, MPI_INT, 0, 0, made);
  CHECK_EQ(calls, before + 1);
  OK(MPI_Comm_free(&made));
}

static void from_intracommunicator(MPI_Comm parent, MPI_Errhandler ours) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Group group;
  MPI_Info info;
  int rank, size, periods[1] = {0}, dims[1], index[1] = {1}, edges[1] = {0};
  OK(MPI_Comm_rank(parent, &rank));
  OK(MPI_Comm_size(parent, &size));
  OK(MPI_Comm_dup(parent, &made));
  check_inherited("dup", made, ours);
  OK(MPI_Comm_idup(parent, &made, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_inherited("idup", made, ours);
  /* As it was at the call: rank 0 comes when the others have changed theirs. */
  for (int other = 1; rank == 0 && other < size; ++other)
    OK(MPI_Recv(NULL, 0, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Comm_idup(parent, &made, &request));
  OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
  if (rank != 0) OK(MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Comm_set_errhandler(parent, ours));
  check_inherited("idup, changed meanwhile", made, ours);
  OK(MPI_Info_create(&info));
  OK(MPI_Comm_dup_with_info(parent, info, &made));
  check_inherited("dup_with_info", made, ours);
#if MPI_VERSION >= 4
  OK(MPI_Comm_idup_with_info(parent, info, &made, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_inherited("idup_with_info", made, ours);
#endif
  OK(MPI_Info_free(&info));
  OK(MPI_Comm_split(parent, rank % 2, -rank, &made));
  check_inherited("split", made, ours);
  OK(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
  check_inherited("split_type", made, ours);
  OK(MPI_Comm_group(parent, &group));
  OK(MPI_Comm_create(parent, group, &made));
  check_inherited("create", made, ours);
  OK(MPI_Comm_create_group(parent, group, 3, &made));
  check_inherited("create_group", made, ours);
  OK(MPI_Group_free(&group));
  for (int reorder = 0; reorder < 2; ++reorder) {
    dims[0] = size;
    OK(MPI_Cart_create(parent, 1, dims, periods, reorder, &made));
    check_inherited("cart_create", made, ours);
    OK(MPI_Graph_create(parent, 1, index, edges, reorder, &made));
    check_inherited("graph_create", made, ours);
    OK(MPI_Dist_graph_create_adjacent(parent, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                      reorder, &made));
    check_inherited("dist_graph_create_adjacent", made, ours);
    OK(MPI_Dist_graph_create(parent, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &made));
    check_inherited("dist_graph_create", made, ours);
  }
}

/* Of a grid with our handler, its rows. */
static void from_grid(MPI_Comm parent, MPI_Errhandler ours) {
  MPI_Comm grid, made;
  int size, dims[2] = {0, 0}, periods[2] = {0, 0}, keep[2] = {0, 1};
  OK(MPI_Comm_size(parent, &size));
  OK(MPI_Dims_create(size, 2, dims));
  OK(MPI_Cart_create(parent, 2, dims, periods, 0, &grid));
  OK(MPI_Cart_sub(grid, keep, &made));
  check_inherited("cart_sub", made, ours);
  OK(MPI_Comm_free(&grid));
}

/* Both halves of `parent` have our handler, the bridge has not. */
static void between_groups(MPI_Comm parent, MPI_Errhandler ours) {
  MPI_Comm half, inter, made, bridge;
  MPI_Group group;
  int rank, size;
  OK(MPI_Comm_rank(parent, &rank));
  OK(MPI_Comm_size(parent, &size));
  if (size < 2) return;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &bridge));
  OK(MPI_Comm_set_errhandler(bridge, MPI_ERRORS_RETURN));
  OK(MPI_Comm_split(parent, rank % 2, rank, &half));
  OK(MPI_Intercomm_create(half, 0, bridge, rank % 2 == 0 ? 1 : 0, 5, &inter));
  OK(MPI_Comm_dup(inter, &made));
  check_inherited("dup of an intercommunicator", made, ours);
  OK(MPI_Comm_split(inter, 0, rank, &made));
  check_inherited("split of an intercommunicator", made, ours);
  OK(MPI_Comm_group(inter, &group));
  OK(MPI_Comm_create(inter, group, &made));
  check_inherited("create of an intercommunicator", made, ours);
  OK(MPI_Group_free(&group));
  OK(MPI_Intercomm_merge(inter, rank % 2, &made));
  check_inherited("merge", made, ours);
  check_inherited("intercomm_create", inter, ours);
  OK(MPI_Comm_free(&half));
  OK(MPI_Comm_free(&bridge));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent, before;
  MPI_Errhandler ours, found;
  OK(MPI_Comm_create_errhandler(handler, &ours));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
  OK(MPI_Comm_dup(parent, &before));
  OK(MPI_Comm_set_errhandler(parent, ours));
  OK(MPI_Comm_get_errhandler(before, &found));
  CHECK(found == MPI_ERRORS_ARE_FATAL); /* what is set later does not reach those made before */
  from_intracommunicator(parent, ours);
  from_grid(parent, ours);
  between_groups(parent, ours);
  OK(MPI_Comm_free(&before));
  OK(MPI_Comm_free(&parent));
  OK(MPI_Errhandler_free(&ours));
  return finish();
}
