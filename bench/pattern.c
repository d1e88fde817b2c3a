/* SPDX-License-Identifier: BSD-3-Clause */
/* From the launch to the end of MPI_Init, and to the end of the first messages of a pattern: what start-up
 * leaves undone is paid there. Usage: pattern ring|stencil|alltoall [launched]
 * launched: CLOCK_MONOTONIC in seconds when the launcher was started; default: the first start of a rank.
 *
 * ring: 8 bytes to the next rank. stencil: 8 bytes to six neighbours of a periodic 3D grid. alltoall: 8 bytes
 * to everybody, pairwise. Times end with the last rank. Counters (MPI_T, where the MPI has them) are those
 * after the pattern, as mean and maximum over ranks; what MPI_Reduce does for the report comes later. */
#include "bench.h"

#include <mpi.h>

enum { kMostNeighbours = 6 };

/* The ranks that this one sends to; those that it receives from come in `from`. Returns how many. */
static int stencil(int me, int ranks, int* to, int* from) {
  int dims[3] = {0, 0, 0}, at[3], count = 0;
  MPI_Dims_create(ranks, 3, dims);
  at[0] = me / (dims[1] * dims[2]);
  at[1] = me / dims[2] % dims[1];
  at[2] = me % dims[2];
  for (int axis = 0; axis < 3; ++axis)
    for (int step = -1; step <= 1; step += 2) {
      int ahead[3] = {at[0], at[1], at[2]}, behind[3] = {at[0], at[1], at[2]};
      ahead[axis] = (at[axis] + step + dims[axis]) % dims[axis];
      behind[axis] = (at[axis] - step + dims[axis]) % dims[axis];
      to[count] = (ahead[0] * dims[1] + ahead[1]) * dims[2] + ahead[2];
      from[count++] = (behind[0] * dims[1] + behind[1]) * dims[2] + behind[2];
    }
  return count;
}

static void run(const char* pattern, int me, int ranks) {
  const int most = ranks > kMostNeighbours ? ranks : kMostNeighbours;
  int* const to = malloc(2 * (size_t)most * sizeof *to);
  long* const words = malloc(2 * (size_t)most * sizeof *words);
  MPI_Request* const requests = malloc(2 * (size_t)most * sizeof(MPI_Request));
  int count = 0, wrong = 0;
  if (to == NULL || words == NULL || requests == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  int* const from = to + most;
  if (strcmp(pattern, "ring") == 0) {
    to[count] = (me + 1) % ranks;
    from[count++] = (me + ranks - 1) % ranks;
  } else if (strcmp(pattern, "stencil") == 0) {
    count = stencil(me, ranks, to, from);
  } else {
    for (; count < ranks; ++count) {
      to[count] = (me + count) % ranks;
      from[count] = (me - count + ranks) % ranks;
    }
  }
  for (int i = 0; i < count; ++i) {
    words[i] = me;
    words[most + i] = -1;
    MPI_Irecv(&words[most + i], 1, MPI_LONG, from[i], i, MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Isend(&words[i], 1, MPI_LONG, to[i], i, MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) wrong += words[most + i] != from[i];
  if (wrong != 0) {
    fprintf(stderr, "rank %d: %d wrong words\n", me, wrong);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  free(to);
  free(words);
  free(requests);
}

/* A performance variable; 0 where this MPI does not have it. */
static double counter(MPI_T_pvar_session session, const char* name, int class) {
  int index, count;
  unsigned long long value = 0;
  MPI_T_pvar_handle handle;
  if (MPI_T_pvar_get_index(name, class, &index) != MPI_SUCCESS) return 0;
  if (MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) != MPI_SUCCESS) return 0;
  if (count != 1 || MPI_T_pvar_read(session, handle, &value) != MPI_SUCCESS) value = 0;
  MPI_T_pvar_handle_free(session, &handle);
  return (double)value;
}

static double private_kib(void) {
  char line[256];
  double sum = 0, kib;
  FILE* const file = fopen("/proc/self/smaps_rollup", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "Private_Clean: %lf", &kib) == 1 || sscanf(line, "Private_Dirty: %lf", &kib) == 1)
      sum += kib;
  fclose(file);
  return sum;
}

int main(int argc, char** argv) {
  enum { kInit, kPattern, kOperations, kPeers, kEndpoints, kPrivate, kCount };
  static const char* const names[kCount] = {"init", "pattern", "operations", "peers", "endpoints", "private"};
  static const char* const units[kCount] = {"ms", "ms", "", "", "", "KiB"};
  double own[kCount], most[kCount], sum[kCount], start = bench_seconds(), launched;
  int me, ranks, provided;
  MPI_T_pvar_session session;
  const char* const pattern = argc > 1 ? argv[1] : "ring";
  MPI_Init(&argc, &argv);
  own[kInit] = bench_seconds();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  run(pattern, me, ranks);
  own[kPattern] = bench_seconds();
  own[kPrivate] = private_kib();
  own[kOperations] = own[kPeers] = own[kEndpoints] = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS) {
    if (MPI_T_pvar_session_create(&session) == MPI_SUCCESS) {
      own[kOperations] = counter(session, "pmi_operations", MPI_T_PVAR_CLASS_COUNTER);
      own[kPeers] = counter(session, "pml_peers", MPI_T_PVAR_CLASS_COUNTER);
      own[kEndpoints] = counter(session, "network_endpoints", MPI_T_PVAR_CLASS_COUNTER);
      MPI_T_pvar_session_free(&session);
    }
    MPI_T_finalize();
  }
  MPI_Allreduce(&start, &launched, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  if (argc > 2) launched = atof(argv[2]);
  own[kInit] = (own[kInit] - launched) * 1e3;
  own[kPattern] = (own[kPattern] - launched) * 1e3;
  MPI_Reduce(own, most, kCount, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(own, sum, kCount, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; me == 0 && i < kCount; ++i) {
    char mean[32];
    bench_print(names[i], 0, most[i], units[i][0] ? units[i] : "most");
    snprintf(mean, sizeof mean, "%s-mean", names[i]);
    bench_print(mean, 0, sum[i] / ranks, units[i][0] ? units[i] : "mean");
  }
  MPI_Finalize();
  return 0;
}
