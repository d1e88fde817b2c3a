/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank is killed while the job is kept (mpiexec -enable-recovery), under MPI_ERRORS_RETURN. The
 * others meet it in the way that the argument names, expect MPI_ERR_PROC_ABORTED, and go on without it.
 * Usage: survive WAY [fresh]     fresh: before the world has had a collective */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONG_BYTES 5000000

static MPI_Comm world, between;
static int rank, size, victim;
static char* data;

static void complain(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "rank %d: %s: code %d: %s\n", rank, what, code, text);
  exit(3);
}

static void expect_aborted(const char* what, int code) {
  int error_class = code;
  MPI_Error_class(code, &error_class);
  if (error_class != MPI_ERR_PROC_ABORTED) complain(what, code);
}

static void expect_success(const char* what, int code) {
  if (code != MPI_SUCCESS) complain(what, code);
}

static int in_receive(void) { return MPI_Recv(data, 8, MPI_CHAR, victim, 1, world, MPI_STATUS_IGNORE); }
static int in_send(void) { return MPI_Ssend(data, 8, MPI_CHAR, victim, 1, world); }
static int in_long_send(void) { return MPI_Send(data, LONG_BYTES, MPI_CHAR, victim, 1, world); }
static int in_probe(void) { return MPI_Probe(victim, 1, world, MPI_STATUS_IGNORE); }

static int in_matched_probe(void) {
  MPI_Message message;
  return MPI_Mprobe(victim, MPI_ANY_TAG, world, &message, MPI_STATUS_IGNORE);
}

static int in_testing(void) {
  MPI_Request request;
  int done = 0, code = MPI_Irecv(data, 8, MPI_CHAR, victim, 1, world, &request);
  while (code == MPI_SUCCESS && !done) code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return code;
}

static int in_testing_probe(void) {
  int found = 0, code = MPI_SUCCESS;
  while (code == MPI_SUCCESS && !found) code = MPI_Iprobe(victim, 1, world, &found, MPI_STATUS_IGNORE);
  return code;
}

/* Only where nobody else is left that could send. */
static int in_any_receive(void) {
  if (size == 2) return MPI_Recv(data, 8, MPI_CHAR, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE);
  return in_receive();
}

static int in_waitall(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int code, error_class;
  MPI_Irecv(data, 8, MPI_CHAR, rank, 5, world, &requests[0]);
  MPI_Irecv(data + 8, 8, MPI_CHAR, victim, 5, world, &requests[1]);
  MPI_Send(data + 16, 8, MPI_CHAR, rank, 5, world);
  code = MPI_Waitall(2, requests, statuses);
  MPI_Error_class(code, &error_class);
  if (error_class != MPI_ERR_IN_STATUS) complain("MPI_Waitall", code);
  expect_success("the request that does not need the dead rank", statuses[0].MPI_ERROR);
  return statuses[1].MPI_ERROR;
}

static int in_allreduce(void) {
  int in = 1, out;
  return MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, world);
}
static int in_long_allreduce(void) {
  char* const out = malloc(LONG_BYTES);
  const int code = MPI_Allreduce(data, out, LONG_BYTES, MPI_BYTE, MPI_BOR, world);
  free(out);
  return code;
}
static int in_bcast(void) { return MPI_Bcast(data, 8, MPI_CHAR, victim, world); }
static int in_barrier(void) { return MPI_Barrier(world); }

static int in_ibarrier(void) {
  MPI_Request request;
  const int code = MPI_Ibarrier(world, &request);
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int in_alltoall(void) {
  char* const out = malloc(1000 * (size_t)size);
  const int code = MPI_Alltoall(data, 1000, MPI_CHAR, out, 1000, MPI_CHAR, world);
  free(out);
  return code;
}

/* Blocks of 1000 bytes but those between rank 0 and the dead rank, which are long. */
static int in_alltoallv(void) {
  char* const in = calloc((size_t)size, LONG_BYTES / 8);
  char* const out = calloc((size_t)size, LONG_BYTES / 8);
  int* const counts = malloc(2 * sizeof(int) * (size_t)size);
  int* const places = counts + size;
  int i, code;
  for (i = 0; i < size; ++i) {
    counts[i] = rank + i == victim ? LONG_BYTES / 8 : 1000;
    places[i] = i * (LONG_BYTES / 8);
  }
  code = MPI_Alltoallv(in, counts, places, MPI_CHAR, out, counts, places, MPI_CHAR, world);
  free(counts);
  free(out);
  free(in);
  return code;
}

static int in_reduce_scatter(void) {
  int* const in = calloc((size_t)size, sizeof(int));
  int out;
  const int code = MPI_Reduce_scatter_block(in, &out, 1, MPI_INT, MPI_SUM, world);
  free(in);
  return code;
}

/* The copy's id comes from rank 0: who needs nothing from the dead rank may get a communicator, but cannot
 * use it. */
static int in_dup(void) {
  MPI_Comm copy;
  const int code = MPI_Comm_dup(world, &copy);
  return code != MPI_SUCCESS ? code : MPI_Barrier(copy);
}

/* The leaders of the groups exchange what MPI_Intercomm_merge decides by. */
static int in_merge(void) {
  MPI_Comm all;
  return MPI_Intercomm_merge(between, 0, &all);
}

/* What a process has to tell of its own group goes through the other group. */
static int in_inter_split(void) {
  MPI_Comm part;
  return MPI_Comm_split(between, 0, rank, &part);
}

/* Every process tells every other how many edges it has for it. */
static int in_graph(void) {
  MPI_Comm graph;
  int to = (rank + 1) % size, degree = 1;
  return MPI_Dist_graph_create(world, 1, &rank, &degree, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
}

static int in_split(void) {
  MPI_Comm half;
  return MPI_Comm_split(world, rank % 2, 0, &half);
}

static int in_creation(void) {
  MPI_Comm all;
  MPI_Group everybody;
  int code;
  MPI_Comm_group(world, &everybody);
  code = MPI_Comm_create_group(world, everybody, 3, &all);
  MPI_Group_free(&everybody);
  return code;
}

/* The dead rank is killed by a timer while it and rank 0 copy from each other. */
static int in_exchange(void) {
  const int half = LONG_BYTES / 2;
  int code = MPI_SUCCESS;
  if (rank != 0 && rank != victim) return in_receive();
  while (code == MPI_SUCCESS) {
    code = MPI_Sendrecv(data, half, MPI_CHAR, victim - rank, 6, data + half, half, MPI_CHAR, victim - rank, 6,
                        world, MPI_STATUS_IGNORE);
  }
  return code;
}

static void die(int signal_number) {
  (void)signal_number;
  kill(getpid(), SIGKILL);
}

static int in_nothing(void) { return MPI_Recv(data, 8, MPI_CHAR, victim, 9, world, MPI_STATUS_IGNORE); }

/* What does not need the dead rank still works, first with what was made before it died. */
static void go_on(MPI_Comm before) {
  MPI_Comm without;
  MPI_Group everybody, living;
  int in = rank, sum = -1, i;
  const int want = (size - 1) * (size - 2) / 2;
  const int half = LONG_BYTES / 2, to = (rank + 1) % (size - 1), from = (rank + size - 2) % (size - 1);
  for (i = 0; i < 5; ++i) {
    expect_success("MPI_Allreduce among the living", MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, before));
    if (sum != want) complain("a wrong sum", sum);
  }
  expect_success("MPI_Sendrecv among the living", MPI_Sendrecv(data, half, MPI_CHAR, to, 8, data + half, half,
                                                               MPI_CHAR, from, 8, world, MPI_STATUS_IGNORE));
  MPI_Comm_group(world, &everybody);
  MPI_Group_excl(everybody, 1, &victim, &living);
  expect_success("MPI_Comm_create_group", MPI_Comm_create_group(world, living, 4, &without));
  for (i = 0; i < 5; ++i) {
    sum = -1;
    expect_success("MPI_Allreduce", MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, without));
    if (sum != want) complain("a wrong sum", sum);
  }
  MPI_Group_free(&everybody);
  MPI_Group_free(&living);
  MPI_Comm_free(&without);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*run)(void);
  } ways[] = {{"receive", in_receive},
              {"send", in_send},
              {"long-send", in_long_send},
              {"probe", in_probe},
              {"mprobe", in_matched_probe},
              {"test", in_testing},
              {"iprobe", in_testing_probe},
              {"any", in_any_receive},
              {"waitall", in_waitall},
              {"allreduce", in_allreduce},
              {"long-allreduce", in_long_allreduce},
              {"bcast", in_bcast},
              {"barrier", in_barrier},
              {"ibarrier", in_ibarrier},
              {"alltoall", in_alltoall},
              {"dup", in_dup},
              {"alltoallv", in_alltoallv},
              {"reduce-scatter", in_reduce_scatter},
              {"split", in_split},
              {"creation", in_creation},
              {"merge", in_merge},
              {"inter-split", in_inter_split},
              {"graph", in_graph},
              {"exchange", in_exchange},
              {"nothing", in_nothing}};
  int (*run)(void) = NULL;
  MPI_Comm before;
  size_t i;
  for (i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
    if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) run = ways[i].run;
  }
  if (run == NULL) return 2;
  data = calloc(1, LONG_BYTES);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  victim = size - 1;
  MPI_Comm_split(world, rank == victim, rank, &before);
  if (run == in_merge || run == in_inter_split)
    MPI_Intercomm_create(before, 0, world, rank == victim ? 0 : victim, 7, &between);
  if (argc < 3) {
    for (i = 0; i < 5; ++i) MPI_Barrier(world);
  } else if (rank == victim) { /* not before all have left the split */
    MPI_Recv(data, 0, MPI_CHAR, 0, 2, world, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(before);
    if (rank == 0) MPI_Send(data, 0, MPI_CHAR, victim, 2, world);
  }
  if (rank == victim) {
    if (run == in_exchange) {
      signal(SIGALRM, die);
      ualarm(100000, 0);
      run();
    }
    /* One of the ways finds the others waiting already. */
    if (argc < 3) usleep(200000);
    kill(getpid(), SIGKILL);
  }
  expect_aborted(argv[1], run());
  expect_aborted("the same again", run == in_waitall ? in_receive() : run());
  go_on(before);
  MPI_Comm_free(&before);
  printf("rank %d goes on\n", rank);
  fflush(stdout);
  MPI_Finalize();
  free(data);
  return 0;
}
