/* SPDX-License-Identifier: BSD-3-Clause */
/* The ideal of a crowded node: a token goes around N processes, each asleep until it is woken, and nothing
 * else. Usage: floor_ring N */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct place {
  _Alignas(128) atomic_uint turn;
};

static void futex(atomic_uint* word, int operation, unsigned value) {
  syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void pass(struct place* to, unsigned turn) {
  atomic_store(&to->turn, turn);
  futex(&to->turn, FUTEX_WAKE, 1);
}

static void await(struct place* own, unsigned turn) {
  unsigned seen;
  while ((seen = atomic_load(&own->turn)) != turn) futex(&own->turn, FUTEX_WAIT, seen);
}

int main(int argc, char** argv) {
  const int size = argc > 1 ? atoi(argv[1]) : 2;
  const unsigned rounds = 200000 / (unsigned)size + 1;
  struct place* const places = mmap(NULL, sizeof(struct place) * (size_t)size, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int rank = 1; rank < size; ++rank) {
    if (fork() != 0) continue;
    for (unsigned turn = 1; turn <= rounds; ++turn) {
      await(&places[rank], turn);
      pass(&places[(rank + 1) % size], turn);
    }
    _exit(0);
  }
  const double begun = now_us();
  for (unsigned turn = 1; turn <= rounds; ++turn) {
    pass(&places[1], turn);
    await(&places[0], turn);
  }
  printf("ring %d %.4f us\n", size, (now_us() - begun) / ((double)rounds * size));
  while (wait(NULL) > 0) {
  }
  return 0;
}
