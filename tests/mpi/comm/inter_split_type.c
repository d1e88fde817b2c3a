/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 7.4.2: MPI_Comm_split_type on an intercommunicator joins those of both groups that share
 * the resource, as MPI_Comm_split does with those of one color; where one side has nobody there is no new
 * communicator. np: 2-64 */
#include "inter.h"

/* All processes that share one memory, in the order of their keys: here all of them, which a run on several
 * nodes tells by the names. */
static void shared_memory(const Bridge* b) {
  char name[MPI_MAX_PROCESSOR_NAME] = "", other[MPI_MAX_PROCESSOR_NAME];
  MPI_Comm made;
  int length, rank, remote, flag, me = world_rank(), worlds[64], before;
  OK(MPI_Get_processor_name(name, &length));
  OK(MPI_Comm_split_type(b->between, MPI_COMM_TYPE_SHARED, -b->me, MPI_INFO_NULL, &made));
  if (made == MPI_COMM_NULL) return;
  OK(MPI_Comm_test_inter(made, &flag));
  CHECK(flag);
  OK(MPI_Comm_rank(made, &rank));
  OK(MPI_Comm_remote_size(made, &remote));
  CHECK(remote >= 1 && remote <= b->others);
  memset(other, 0, sizeof other);
  OK(MPI_Sendrecv(name, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, rank % remote, 1, NULL, 0, MPI_CHAR, MPI_PROC_NULL,
                  1, made, MPI_STATUS_IGNORE));
  {
    int size;
    OK(MPI_Comm_size(made, &size));
    for (int from = 0; from < remote; ++from) {
      if (from % size != rank) continue;
      OK(MPI_Recv(other, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, from, 1, made, MPI_STATUS_IGNORE));
      CHECK(strcmp(name, other) == 0);
    }
  }
  OK(MPI_Allgather(&me, 1, MPI_INT, worlds, 1, MPI_INT, made));
  before = 64;
  for (int i = 0; i < remote; ++i) { /* the others, from their last rank down */
    int at = 0;
    while (at < b->others && b->there[at] != worlds[i]) ++at;
    CHECK(at < before);
    before = at;
  }
  OK(MPI_Comm_free(&made));
}

static void one_side_stays_out(const Bridge* b) {
  MPI_Comm made = b->between;
  OK(MPI_Comm_split_type(b->between, b->side == 0 ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0, MPI_INFO_NULL,
                         &made));
  CHECK(made == MPI_COMM_NULL);
}

static void wrong_type(const Bridge* b) {
  MPI_Comm made;
  OK(MPI_Comm_set_errhandler(b->between, MPI_ERRORS_RETURN));
  CHECK_ERROR(MPI_Comm_split_type(b->between, 12345, 0, MPI_INFO_NULL, &made), MPI_ERR_ARG);
}

#ifdef MPI_ABI_VERSION /* process sets as resources came with MPI 4.1 */
static void process_sets(const Bridge* b) {
  MPI_Info info;
  MPI_Comm made;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD"));
  OK(MPI_Comm_split_type(b->between, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &made));
  check_groups(made, b->here, b->mine, b->there, b->others);
  OK(MPI_Comm_free(&made));
  OK(MPI_Info_set(info, "mpi_pset_name", "mpi://SELF")); /* nobody shares it with the other side */
  OK(MPI_Comm_split_type(b->between, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &made));
  CHECK(made == MPI_COMM_NULL);
  OK(MPI_Info_free(&info));
}
#else
static void process_sets(const Bridge* b) { (void)b; }
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int shape = 0; shape < SHAPES; ++shape) {
    for (int backwards = 0; backwards <= 1; ++backwards) {
      Bridge b = build_bridge(shape, backwards);
      shared_memory(&b);
      one_side_stays_out(&b);
      process_sets(&b);
      wrong_type(&b);
      free_bridge(&b);
    }
  }
  return finish();
}
