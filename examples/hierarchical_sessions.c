/* SPDX-License-Identifier: BSD-3-Clause */
/* Two communicators instead of a world: one of the processes of each node, one of the nodes' first processes.
 * With n processes on each of m nodes, all to all over both makes n^2 m + m^2 connections; over a world it
 * makes n^2 m^2. The program counts them (performance variable pml_peers where the MPI has it, MPI 5.0,
 * 15.3.7).
 *
 *     mpiexec -n 16 --virtual-nodes 4 ./hierarchical_sessions          # sparse
 *     mpiexec -n 16 --virtual-nodes 4 ./hierarchical_sessions world    # what a world does
 *
 * Nodes have the same number of processes each, in blocks. Without a process set mpix://NODE there is one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm make(MPI_Group group, const char* tag) {
  MPI_Comm comm;
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  return comm;
}

/* Everybody sends a number to everybody: each pair is connected afterwards. Returns the sum. */
static long all_to_all(MPI_Comm comm, long value) {
  int size;
  long sum = 0;
  MPI_Comm_size(comm, &size);
  long* const out = malloc((size_t)size * sizeof *out);
  long* const in = malloc((size_t)size * sizeof *in);
  MPI_Request* const requests = malloc(2 * (size_t)size * sizeof *requests);
  if (out == NULL || in == NULL || requests == NULL) MPI_Abort(comm, 1);
  for (int i = 0; i < size; ++i) {
    out[i] = value;
    MPI_Irecv(&in[i], 1, MPI_LONG, i, 0, comm, &requests[i]);
  }
  for (int i = 0; i < size; ++i) MPI_Isend(&out[i], 1, MPI_LONG, i, 0, comm, &requests[size + i]);
  MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < size; ++i) sum += in[i];
  free(out);
  free(in);
  free(requests);
  return sum;
}

/* Processes that this one is connected to; -1: this MPI does not tell. */
static long connections(void) {
  int provided, index;
  long result = -1;
  unsigned long long value = 0;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  int count;
  if (MPI_T_pvar_get_index("pml_peers", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS &&
      MPI_T_pvar_session_create(&session) == MPI_SUCCESS) {
    if (MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS) {
      if (MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS) result = (long)value;
      MPI_T_pvar_handle_free(session, &handle);
    }
    MPI_T_pvar_session_free(&session);
  }
  MPI_T_finalize();
  return result;
}

int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group world, node, roots;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  if (MPI_Group_from_session_pset(session, "mpix://NODE", &node) != MPI_SUCCESS)
    MPI_Group_from_session_pset(session, "mpi://WORLD", &node);
  int ranks, per_node, me, first;
  MPI_Group_size(world, &ranks);
  MPI_Group_size(node, &per_node);
  MPI_Group_rank(world, &me);
  MPI_Group_rank(node, &first);
  int range[1][3] = {{0, ranks - 1, per_node}};
  MPI_Group_range_incl(world, 1, range, &roots);

  MPI_Comm world_comm = MPI_COMM_NULL, roots_comm = MPI_COMM_NULL;
  MPI_Comm node_comm = make(node, "org.example.node");
  const int root = first == 0;
  if (root) roots_comm = make(roots, "org.example.roots");

  /* The sum over all ranks, in two steps. */
  long sum = all_to_all(node_comm, me);
  if (root) sum = all_to_all(roots_comm, sum);
  MPI_Bcast(&sum, 1, MPI_LONG, 0, node_comm);
  if (argc > 1 && strcmp(argv[1], "world") == 0) {
    world_comm = make(world, "org.example.world");
    sum = all_to_all(world_comm, me);
  }

  long mine = connections(), all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, node_comm);
  if (root) {
    long on_node = all;
    MPI_Reduce(&on_node, &all, 1, MPI_LONG, MPI_SUM, 0, roots_comm);
  }
  if (me == 0) {
    const long n = per_node, m = ranks / per_node;
    printf("%ld nodes x %ld processes: %ld connections; n^2 m + m^2 = %ld, n^2 m^2 = %ld\n", m, n, all,
           n * n * m + m * m, n * n * m * m);
  }

  const int dense = me == 0 && world_comm == MPI_COMM_NULL &&
                    all > (long)per_node * ranks + (long)(ranks / per_node) * (ranks / per_node);

  if (world_comm != MPI_COMM_NULL) MPI_Comm_free(&world_comm);
  if (root) MPI_Comm_free(&roots_comm);
  MPI_Comm_free(&node_comm);
  MPI_Group_free(&roots);
  MPI_Group_free(&node);
  MPI_Group_free(&world);
  MPI_Session_finalize(&session);
  if (sum != (long)ranks * (ranks - 1) / 2) {
    fprintf(stderr, "rank %d: the ranks add up to %ld, expected %ld\n", me, sum,
            (long)ranks * (ranks - 1) / 2);
    return 1;
  }
  if (dense) fprintf(stderr, "there are %ld connections, more than two sparse communicators need\n", all);
  return dense;
}
