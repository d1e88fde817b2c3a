/* SPDX-License-Identifier: BSD-3-Clause */
/* A sender that writes into the buffer of a receive that waits is killed there, or the receiver is; the
 * others go on.
 * Usage: waiting WHO STAGE [cancel]
 *   WHO    sender (rank 0) or receiver (rank 1)
 *   STAGE  of the sender: told: it knows of the receive; before, half, after: how much it has written.
 *          of the receiver: told, or half: while the sender writes, which then goes on
 *   cancel the receiver cancels while the sender is in the middle, and waits for the end
 *
 * process_vm_writev is this file's: the library writes with it. A receive that has ended, in whatever way, is
 * written to by nobody. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "deaths.h"

enum { kBytes = 1 << 20, kTag = 1, kTold = 2 };

static volatile int*
    dead; /* of all ranks: somebody is about to be killed, [1]: the sender is in the middle */
static int who, armed, cancels, writes;
static const char* stage = "";
static unsigned char* buffer;

static void at(const char* here) {
  if (strcmp(here, "half") == 0) {
    dead[1] = 1;
    if (cancels) usleep(50000);
    if (who == 1 && strcmp(stage, "half") == 0) wait_until(&dead[0]);
  }
  if (who == 0 && strcmp(stage, here) == 0) die(&dead[0]);
}

static ssize_t write_half(pid_t pid, const struct iovec* here, const struct iovec* there, size_t first,
                          size_t bytes) {
  const struct iovec from = {(char*)here->iov_base + first, bytes},
                     to = {(char*)there->iov_base + first, bytes};
  return syscall(SYS_process_vm_writev, pid, &from, 1ul, &to, 1ul, 0ul);
}
ssize_t process_vm_writev(pid_t pid, const struct iovec* here, unsigned long here_count,
                          const struct iovec* there, unsigned long there_count, unsigned long flags) {
  const size_t half = here->iov_len / 2, rest = here->iov_len - half;
  if (!armed) return syscall(SYS_process_vm_writev, pid, here, here_count, there, there_count, flags);
  ++writes;
  at("before");
  if (write_half(pid, here, there, 0, half) < 0) return -1;
  at("half");
  if (write_half(pid, here, there, half, rest) < 0) return -1;
  at("after");
  return (ssize_t)here->iov_len;
}

static void send(void) {
  int token;
  put(buffer, kBytes, 5);
  lost(MPI_Recv(&token, 1, MPI_INT, 1, kTold, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  if (who == 0 && strcmp(stage, "told") == 0) die(&dead[0]);
  if (who == 1 && strcmp(stage, "told") == 0) wait_until(&dead[0]);
  armed = 1;
  const int code = lost(MPI_Send(buffer, kBytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD));
  if (who == 0) fail(writes == 0 ? "it has written nothing" : "it has not died", writes);
  if (code == 0 && writes == 0) fail("a message to the dead has been taken", writes);
}

static void receive(void) {
  MPI_Request request;
  MPI_Status status;
  int token = 0, flag = 0;
  memset(buffer, 0, kBytes);
  lost(MPI_Irecv(buffer, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &request));
  lost(MPI_Send(&token, 1, MPI_INT, 0, kTold, MPI_COMM_WORLD));
  if (who == 1) {
    if (strcmp(stage, "half") == 0) wait_until(&dead[1]);
    die(&dead[0]);
  }
  if (cancels) {
    wait_until(&dead[1]);
    MPI_Cancel(&request);
  }
  const int gone = lost(MPI_Wait(&request, &status));
  MPI_Test_cancelled(&status, &flag);
  if (flag) fail("it was cancelled while its sender wrote", flag);
  if (!gone) fail("the dead have sent it", gone);
  put(buffer, kBytes, 7);
  usleep(100000);
  verify(buffer, kBytes, 7);
}

int main(int argc, char** argv) {
  MPI_Comm node;
  MPI_Win win;
  MPI_Aint bytes;
  int size, unit, token = 0;
  void* shared;
  if (argc < 3) return 2;
  who = strcmp(argv[1], "sender") == 0 ? 0 : 1;
  stage = argv[2];
  cancels = argc > 3;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Win_allocate_shared(2 * sizeof *dead, sizeof *dead, MPI_INFO_NULL, node, &shared, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, &shared);
  dead = shared;
  buffer = malloc(kBytes);
  for (int i = 0; i < 6; ++i) { /* both have endpoints, and have met */
    if (rank == 0) MPI_Send(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) send();
  if (rank == 1) receive();
  if (rank == 2 && !lost(MPI_Recv(&token, 1, MPI_INT, who, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)))
    fail("a message came from the dead", token);
  printf("rank %d goes on\n", rank);
  fflush(stdout);
  free(buffer);
  MPI_Finalize();
  return 0;
}
