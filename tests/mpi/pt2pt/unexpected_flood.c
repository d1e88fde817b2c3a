/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver that is late finds every message, however many have come before it looked; the senders are
 * held back rather than memory exhausted (MPI-4, 3.5: a standard send may wait for its receive). */
#include <sys/resource.h>

#include "check.h"

enum { kMessages = 20000, kBytes = 512 };
enum { kFlood = 100000, kFloodBytes = 1000, kFloodKib = kFlood / 1000 * kFloodBytes };

/* Sanitizers keep what has been freed, and notes about each byte. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURED 0
#elif defined(__has_feature)
#define MEASURED (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define MEASURED 1
#endif

/* The most memory that this process has had, in KiB. */
static long most_memory(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* 100 MB for rank 0, which wants the last message first: all others have been sent before. */
static void flood(int me, int size) {
  unsigned char message[kFloodBytes] = {0};
  const long before = most_memory();
  if (me == 1) {
    MPI_Request* const requests = malloc(sizeof(MPI_Request) * kFlood);
    for (int i = 0; i < kFlood; ++i)
      OK(MPI_Isend(message, kFloodBytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD));
    OK(MPI_Waitall(kFlood, requests, MPI_STATUSES_IGNORE));
    free(requests);
  } else if (me == 0 && size > 1) {
    OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < kFlood; ++i)
      OK(MPI_Recv(message, kFloodBytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    /* Half of the flood would be a leak, or no limit. */
    if (MEASURED) CHECK(most_memory() - before < kFloodKib / 2);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  unsigned char message[kBytes];
  if (me != 0) {
    for (int i = 0; i < kMessages / size; ++i) {
      fill(message, kBytes, i);
      OK(MPI_Send(message, kBytes, MPI_BYTE, 0, i % 2, MPI_COMM_WORLD));
    }
    OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD));
  } else {
    for (int from = size - 1; from >= 1; --from) {
      for (int i = 0; i < kMessages / size; ++i) {
        OK(MPI_Recv(message, kBytes, MPI_BYTE, from, i % 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(first_difference(message, kBytes, i), -1);
      }
      OK(MPI_Recv(NULL, 0, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
  }
  flood(me, size);
  return finish();
}
