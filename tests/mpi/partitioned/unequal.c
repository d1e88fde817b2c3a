/* SPDX-License-Identifier: BSD-3-Clause */
/* A partitioned receive of another size than its send ends with an error, and takes what was sent out of the
 * way: the sender can start again as often as it likes, and those that fit arrive (MPI 5.0, 4.2). Of a send
 * that is shorter all data arrive, and are counted.
 * needs: mpi-4.1 */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

static int to, from;

/* `rounds` starts of a send of out_parts times out_count bytes and a receive of other sizes. */
static void differ(int rounds, int out_parts, int out_count, int in_parts, int in_count) {
  const size_t out_bytes = (size_t)out_parts * (size_t)out_count,
               in_bytes = (size_t)in_parts * (size_t)in_count;
  char *out = calloc(out_bytes + in_bytes + 1, 1), *in = calloc(in_bytes + 1, 1);
  const int shorter = out_bytes < in_bytes;
  MPI_Request send, receive;
  CHECK(out != NULL && in != NULL);
  fill(out, out_bytes, 3);
  fill(in, in_bytes + 1, 5);
  OK(MPI_Psend_init(out, out_parts, out_count, MPI_BYTE, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
  OK(MPI_Precv_init(in, in_parts, in_count, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
  for (int round = 0; round < rounds; ++round) {
    int flag = 0, part = round % in_parts, count = -1;
    MPI_Status status;
    OK(MPI_Start(&receive));
    OK(MPI_Start(&send));
    OK(MPI_Pready_range(0, out_parts - 1, send));
    OK(MPI_Parrived(receive, part, &flag));
    CHECK_ERROR(MPI_Wait(&receive, &status), shorter ? MPI_ERR_COUNT : MPI_ERR_TRUNCATE);
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == (shorter ? (int)out_bytes : 0));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  }
  if (shorter) {
    CHECK(memcmp(in, out, out_bytes) == 0);
    fill(out, in_bytes + 1, 5);
    CHECK(memcmp(in + out_bytes, out + out_bytes, in_bytes + 1 - out_bytes) == 0);
  } else {
    CHECK(first_difference(in, in_bytes + 1, 5) == -1);
  }
  OK(MPI_Request_free(&send));
  OK(MPI_Request_free(&receive));
  free(out);
  free(in);
}

/* The same channel and tag afterwards. */
static void fit(int parts, int count) {
  const size_t bytes = (size_t)parts * (size_t)count;
  char *out = malloc(bytes), *in = calloc(bytes, 1);
  MPI_Request send, receive;
  CHECK(out != NULL && in != NULL);
  fill(out, bytes, 7);
  OK(MPI_Psend_init(out, parts, count, MPI_BYTE, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
  OK(MPI_Precv_init(in, 1, parts * count, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
  OK(MPI_Start(&receive));
  OK(MPI_Start(&send));
  OK(MPI_Pready_range(0, parts - 1, send));
  OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  CHECK(first_difference(in, bytes, 7) == -1);
  OK(MPI_Request_free(&send));
  OK(MPI_Request_free(&receive));
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  to = (world_rank() + 1) % world_size();
  from = (world_rank() + world_size() - 1) % world_size();
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  differ(6000, 1, 8, 1, 4); /* more than lie unread between two processes */
  differ(2000, 4, 8, 3, 8);
  differ(100, 2, 8, 4, 8);
  differ(100, 3, 0, 2, 1);
  differ(100, 2, 1, 5, 0);
  differ(10, 2, 1 << 20, 1, 1 << 20); /* by rendezvous */
  fit(4, 1000);
  fit(2, 1 << 20);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
