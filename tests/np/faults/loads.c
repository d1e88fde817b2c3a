/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes on for long or is large. Usage: loads flood N | announced N | all-flood N | long BYTES | counts |
 * dups N | sessions N */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EAGER 1024
#define LONG 131072 /* is announced, whatever the transport */

static int rank, size;

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Bytes of this process in memory at the worst moment so far. */
static long peak_bytes(void) {
  char line[256];
  long kib = -1;
  FILE* const file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "VmHWM: %ld", &kib);
  if (file != NULL) fclose(file);
  return kib * 1024;
}

/* Rank 0 lets messages come that it does not receive; what that costs it is printed. */
static void flood(long count) {
  char data[EAGER] = {0};
  int i, from, found = 0, ended = 0;
  long growth = peak_bytes();
  if (rank == 0) {
    while (ended < size - 1) { /* each sender's last word */
      MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      if (!found) continue;
      MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++ended;
    }
    growth = peak_bytes() - growth;
    for (from = 1; from < size; ++from) {
      for (i = 0; i < count; ++i) {
        MPI_Recv(data, EAGER, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        require(data[0] == (char)i && data[EAGER - 1] == (char)(i * 3), "a message came out of order");
      }
    }
    printf("growth %ld of %ld\n", growth, count * (size - 1) * EAGER);
  } else {
    char* const all = malloc((size_t)count * EAGER);
    MPI_Request* const requests = malloc((size_t)count * sizeof(MPI_Request));
    for (i = 0; i < count; ++i) {
      all[(size_t)i * EAGER] = (char)i;
      all[(size_t)i * EAGER + EAGER - 1] = (char)(i * 3);
      MPI_Isend(all + (size_t)i * EAGER, EAGER, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    MPI_Waitall((int)count, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(all);
  }
}

/* Long messages that rank 0 does not receive while it does other things; what that costs it is printed. It
 * then wants the last of each sender first. */
static void announced(long count) {
  static char data[LONG];
  int i, from;
  long growth;
  MPI_Barrier(MPI_COMM_WORLD);
  growth = peak_bytes();
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD); /* behind all of them */
    printf("growth %ld of %ld\n", peak_bytes() - growth, count * (size - 1));
    for (from = 1; from < size; ++from)
      MPI_Recv(data, LONG, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (from = 1; from < size; ++from) {
      for (i = 0; i < count; ++i) {
        data[0] = 0;
        MPI_Recv(data, LONG, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        require(data[0] == 5 && data[LONG - 1] == 6, "a message came changed");
      }
    }
  } else {
    MPI_Request* const requests = malloc((size_t)(count + 1) * sizeof(MPI_Request));
    data[0] = 5;
    data[LONG - 1] = 6;
    for (i = 0; i <= count; ++i)
      MPI_Isend(data, LONG, MPI_BYTE, 0, i < count ? 1 : 2, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall((int)count + 1, requests, MPI_STATUSES_IGNORE);
    free(requests);
  }
}

/* Everybody sends to everybody before anybody receives. */
static void flood_all(long count) {
  char* const all = calloc((size_t)count, EAGER);
  char data[EAGER];
  MPI_Request* const requests = malloc((size_t)(count * size) * sizeof(MPI_Request));
  int i, peer, made = 0;
  for (i = 0; i < count; ++i) {
    for (peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      MPI_Isend(all + (size_t)i * EAGER, EAGER, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[made++]);
    }
  }
  for (peer = 0; peer < size; ++peer) {
    for (i = 0; peer != rank && i < count; ++i)
      MPI_Recv(data, EAGER, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(made, requests, MPI_STATUSES_IGNORE);
  free(requests);
  free(all);
}

static void long_message(MPI_Count bytes) {
  unsigned char* const data = malloc((size_t)bytes);
  const MPI_Count step = 999983; /* a prime: hits all kinds of boundaries in turn */
  MPI_Status status;
  MPI_Count at, got = 0;
  require(data != NULL, "no memory");
  if (rank == 0) {
    memset(data, 1, (size_t)bytes);
    for (at = 0; at < bytes; at += step) data[at] = (unsigned char)(at / step * 7);
    data[bytes - 1] = 77;
    MPI_Send_c(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else if (rank == 1) {
    memset(data, 2, (size_t)bytes);
    MPI_Recv_c(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, MPI_BYTE, &got);
    require(got == bytes, "the status has another count");
    for (at = 0; at < bytes - 1; at += step)
      require(data[at] == (unsigned char)(at / step * 7), "a byte came changed");
    for (at = 1; at < bytes - 1; at += step) require(data[at] == 1, "a byte came changed");
    require(data[bytes - 1] == 77, "the last byte came changed");
  }
  free(data);
}

/* More elements than an int can count, and more bytes in an extent, without the memory for them. */
static void large_counts(void) {
  const MPI_Count many = ((MPI_Count)1 << 33) + 3, span = ((MPI_Count)1 << 32) + 16;
  MPI_Datatype nothing, wide;
  MPI_Status status;
  MPI_Count got = -1;
  const int peer = rank ^ 1;
  int value = rank, other = -1, small = 0;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  MPI_Sendrecv_c(NULL, many, nothing, peer, 1, NULL, many, nothing, peer, 1, MPI_COMM_WORLD, &status);
  MPI_Type_create_resized_c(MPI_INT, 0, span, &wide);
  MPI_Type_commit(&wide);
  MPI_Sendrecv_c(&value, 1, wide, peer, 2, &other, 1, wide, peer, 2, MPI_COMM_WORLD, &status);
  require(other == peer, "a type with a wide extent");
  MPI_Status_set_elements_c(&status, MPI_BYTE, many);
  MPI_Get_count_c(&status, MPI_BYTE, &got);
  MPI_Get_count(&status, MPI_BYTE, &small);
  require(got == many && small == MPI_UNDEFINED, "a count beyond int");
  MPI_Type_free(&nothing);
  MPI_Type_free(&wide);
}

static void dups(long count) {
  long i;
  MPI_Comm copy;
  for (i = 0; i < count; ++i) {
    const int alone = i % 16 != 0;
    int in = 1, sum = 0;
    MPI_Comm_dup(alone ? MPI_COMM_SELF : MPI_COMM_WORLD, &copy);
    if (i % 4096 == 0) {
      MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, copy);
      require(sum == size, "a sum on a copy");
    }
    MPI_Comm_free(&copy);
  }
}

/* Each session leaves while its last messages may be on their way. */
static void sessions(long count) {
  long i;
  unsigned seed = (unsigned)getpid();
  static int sent[1024]; /* nobody is more than a session ahead of the neighbours */
  for (i = 0; i < count; ++i) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request request;
    int me, members, got = -1;
    int* const mine = &sent[i % 1024];
    *mine = (int)i;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "loads", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &members);
    MPI_Isend(mine, 1, MPI_INT, (me + 1) % members, 1, comm, &request);
    if (rand_r(&seed) % 4 == 0) usleep(rand_r(&seed) % 300);
    MPI_Recv(&got, 1, MPI_INT, (me + members - 1) % members, 1, comm, MPI_STATUS_IGNORE);
    if (got != *mine) abort();
    MPI_Request_free(&request);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    if (rand_r(&seed) % 4 == 0) usleep(rand_r(&seed) % 300);
    MPI_Session_finalize(&session);
  }
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const long number = argc > 2 ? atol(argv[2]) : 0;
  if (strcmp(what, "sessions") == 0) {
    sessions(number);
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "flood") == 0)
    flood(number);
  else if (strcmp(what, "announced") == 0)
    announced(number);
  else if (strcmp(what, "all-flood") == 0)
    flood_all(number);
  else if (strcmp(what, "long") == 0)
    long_message(number);
  else if (strcmp(what, "counts") == 0)
    large_counts();
  else if (strcmp(what, "dups") == 0)
    dups(number);
  else
    require(0, "unknown load");
  MPI_Finalize();
  return 0;
}
