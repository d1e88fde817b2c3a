/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for ever in the way that its argument names. Every rank but one takes part. Usage: stuck WAY */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm ocean;
static int rank, size;

static void in_receive(void) {
  char buffer[80];
  MPI_Recv(buffer, 80, MPI_CHAR, size - 1, 7, ocean, MPI_STATUS_IGNORE);
}

static void in_any_receive(void) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, ocean, MPI_STATUS_IGNORE);
}

static void in_send(void) {
  char* const data = calloc(1, 5000000);
  MPI_Send(data, 5000000, MPI_CHAR, size - 1, 9, ocean);
  free(data);
}

static void in_allreduce(void) {
  int in = 1, out;
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, ocean);
}

/* The large twins, and the names for profilers. */
static void in_receive_c(void) {
  char buffer[80];
  MPI_Recv_c(buffer, 80, MPI_CHAR, size - 1, 7, ocean, MPI_STATUS_IGNORE);
}

static void in_send_c(void) {
  char* const data = calloc(1, 5000000);
  MPI_Send_c(data, 5000000, MPI_CHAR, size - 1, 9, ocean);
  free(data);
}

static void in_ssend_c(void) {
  int value = 1;
  MPI_Ssend_c(&value, 1, MPI_INT, size - 1, 9, ocean);
}

static void in_sendrecv_c(void) {
  int out = 1, in;
  MPI_Sendrecv_c(&out, 1, MPI_INT, size - 1, 9, &in, 1, MPI_INT, size - 1, 9, ocean, MPI_STATUS_IGNORE);
}

static void in_allreduce_c(void) {
  int in = 1, out;
  MPI_Allreduce_c(&in, &out, 1, MPI_INT, MPI_SUM, ocean);
}

static void in_pmpi_allreduce(void) {
  int in = 1, out;
  PMPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, ocean);
}

static void in_iallreduce_c(void) {
  int in = 1, out;
  MPI_Request request;
  MPI_Iallreduce_c(&in, &out, 1, MPI_INT, MPI_SUM, ocean, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void in_persistent_c(void) {
  int in = 1, out;
  MPI_Request request;
  MPI_Allreduce_init_c(&in, &out, 1, MPI_INT, MPI_SUM, ocean, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void in_ibarrier(void) {
  MPI_Request request;
  MPI_Ibarrier(ocean, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void in_test(void) {
  MPI_Request request;
  int value, done = 0;
  MPI_Irecv(&value, 1, MPI_INT, size - 1, 5, ocean, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/* The last rank has called MPI_Finalize and ended. */
static void in_iprobe(void) {
  int found = 0;
  while (!found) MPI_Iprobe(size - 1, 3, ocean, &found, MPI_STATUS_IGNORE);
}

static void with_two(void) {
  int values[2];
  MPI_Request requests[2];
  MPI_Irecv(&values[0], 1, MPI_INT, size - 1, 5, ocean, &requests[0]);
  MPI_Irecv(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, 6, ocean, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void in_probe(void) { MPI_Probe(size - 1, 3, ocean, MPI_STATUS_IGNORE); }

static void in_dup(void) {
  MPI_Comm copy;
  MPI_Comm_dup(ocean, &copy);
}

static void in_create(void) {
  MPI_Group group;
  MPI_Comm made;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create_from_group(group, "reef", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
}

static void in_finalize(void) {
  char* const data = calloc(1, 5000000);
  MPI_Request request;
  MPI_Isend(data, 5000000, MPI_CHAR, size - 1, 9, ocean, &request);
  MPI_Finalize();
}

static void with_many(void) {
  static int values[100];
  MPI_Request requests[100];
  for (int i = 0; i < 100; ++i) MPI_Irecv(&values[i], 1, MPI_INT, size - 1, i, ocean, &requests[i]);
  MPI_Waitall(100, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } ways[] = {{"receive", in_receive},
              {"any", in_any_receive},
              {"send", in_send},
              {"allreduce", in_allreduce},
              {"board", in_allreduce},
              {"ibarrier", in_ibarrier},
              {"probe", in_probe},
              {"dup", in_dup},
              {"create", in_create},
              {"finalize", in_finalize},
              {"many", with_many},
              {"test", in_test},
              {"left-test", in_test},
              {"left-iprobe", in_iprobe},
              {"two", with_two},
              {"receive_c", in_receive_c},
              {"send_c", in_send_c},
              {"ssend_c", in_ssend_c},
              {"sendrecv_c", in_sendrecv_c},
              {"allreduce_c", in_allreduce_c},
              {"pmpi_allreduce", in_pmpi_allreduce},
              {"iallreduce_c", in_iallreduce_c},
              {"persistent_c", in_persistent_c}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &ocean);
  MPI_Comm_set_name(ocean, "ocean");
  /* A broadcast waits for its root, everything else for the last rank. */
  const int absent = argc == 2 && strcmp(argv[1], "dup") == 0 ? 0 : size - 1;
  /* The first collectives of a communicator are messages. */
  for (int i = 0; i < 3 && argc == 2 && strcmp(argv[1], "board") == 0; ++i) MPI_Barrier(ocean);
  if (rank == absent) {
    if (argc == 2 && strncmp(argv[1], "left-", 5) == 0) return MPI_Finalize();
    for (;;) pause();
  }
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    if (argc == 2 && strcmp(argv[1], ways[i].name) == 0) ways[i].run();
  }
  fprintf(stderr, "nothing held rank %d up\n", rank);
  return 1;
}
