/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of every size from 0 to 8 MiB around the powers of two arrive whole, expected and unexpected,
 * both directions at once (MPI-4, 3.2.4, 3.7). np: 2+ */
#include "check.h"

enum { kMax = (8 << 20) + 3 };

static void exchange(int peer, unsigned char* out, unsigned char* in, int bytes, int posted_first) {
  MPI_Request requests[2];
  MPI_Status status;
  count_t count;
  const int me = world_rank();
  fill(out, (size_t)bytes, me + bytes);
  memset(in, 0x5a, (size_t)bytes + 8);
  if (posted_first) OK(MPI_Irecv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Isend(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]));
  if (!posted_first) {
    OK(MPI_Probe(peer, 0, MPI_COMM_WORLD, &status));
    OK(MPI_Irecv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]));
  }
  OK(MPI_Wait(&requests[1], &status));
  OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, bytes);
  CHECK_EQ(first_difference(in, (size_t)bytes, peer + bytes), -1);
  for (int i = 0; i < 8; ++i) CHECK_EQ(in[bytes + i], 0x5a);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  const int peer = me ^ 1;
  if (peer < size) {
    unsigned char* out = malloc(kMax + 8);
    unsigned char* in = malloc(kMax + 8);
    for (int posted_first = 0; posted_first < 2; ++posted_first) {
      for (int bytes = 0; bytes < 300; ++bytes) exchange(peer, out, in, bytes, posted_first);
      for (int power = 512; power <= (8 << 20); power *= 2)
        for (int off = -3; off <= 3; off += power > (1 << 18) ? 6 : 1)
          exchange(peer, out, in, power + off, posted_first);
    }
    free(in);
    free(out);
  }
  return finish();
}
