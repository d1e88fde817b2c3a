/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages do not overtake each other: two that match the same receive are taken in the order in which they
 * were sent, whatever their sizes (MPI-4, 3.5). np: 2+ */
#include "check.h"

enum { kMessages = 200, kMax = 200000 };
static int bytes_of(int i) {
  static const int sizes[] = {4, 4096, 20, 65536, 4, 200000, 300, 32768};
  return sizes[i % 8];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  unsigned char* buffer = malloc(kMax);
  MPI_Status status;
  int count;
  if (me != 0) {
    for (int i = 0; i < kMessages; ++i) {
      fill(buffer, (size_t)bytes_of(i), i);
      memcpy(buffer, &i, sizeof i);
      OK(MPI_Send(buffer, bytes_of(i), MPI_BYTE, 0, i % 3, MPI_COMM_WORLD));
    }
  } else {
    int* next = calloc((size_t)size, sizeof(int));
    for (int n = 0; n < kMessages * (size - 1); ++n) {
      const int from = n % 2 ? MPI_ANY_SOURCE : 1 + n % (size - 1);
      /* A sender that is through already cannot be asked again. */
      const int source = from != MPI_ANY_SOURCE && next[from] == kMessages ? MPI_ANY_SOURCE : from;
      OK(MPI_Recv(buffer, kMax, MPI_BYTE, source, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
      int i;
      memcpy(&i, buffer, sizeof i);
      CHECK_EQ(i, next[status.MPI_SOURCE]);
      CHECK_EQ(status.MPI_TAG, i % 3);
      OK(MPI_Get_count(&status, MPI_BYTE, &count));
      CHECK_EQ(count, bytes_of(i));
      for (int k = 4; k < count; ++k) CHECK(buffer[k] == pattern(i, (size_t)k));
      ++next[status.MPI_SOURCE];
    }
    free(next);
  }
  free(buffer);
  return finish();
}
