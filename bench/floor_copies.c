/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine allows without any MPI where several processes copy one message, chunk by chunk.
 * Usage: floor_copies [most processes]
 *
 * Process 0 has the message in its caches: it has just written it, in memory of all. Process 1 opens the
 * copy into memory of all, too, and copies; the first n - 2 others and process 0 help at once: they look at
 * nothing but the claim word. Printed for n = 1 (process 1 alone) to all processors: `copies-n`, from the
 * opening to the end of the last chunk; and `claim-n`, one claim where n processes claim and copy nothing. */
#include "bench.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { kLargest = 4194304, kRounds = 61, kClaims = 20000, kLeastChunk = 16384 };

struct line {
  _Alignas(128) atomic_ulong word;
};
struct shared {
  struct line claim;   /* generation 32, chunks 16, next 16 */
  struct line done;    /* chunks */
  struct line written; /* round for which process 0 has written the message */
  struct line round, over;
  unsigned long bytes, chunk, helpers;
  _Alignas(4096) unsigned char from[kLargest];
  _Alignas(4096) unsigned char to[kLargest];
};
static struct shared* all;

/* Takes and copies chunks until there are none left. */
static void help(void) {
  unsigned long seen = atomic_load(&all->claim.word);
  while ((seen & 0xffff) < (seen >> 16 & 0xffff)) {
    const unsigned long at = (seen & 0xffff) * all->chunk;
    if (!atomic_compare_exchange_weak(&all->claim.word, &seen, seen + 1)) continue;
    memcpy(all->to + at, all->from + at, at + all->chunk <= all->bytes ? all->chunk : all->bytes - at);
    atomic_fetch_add(&all->done.word, 1);
    seen = atomic_load(&all->claim.word);
  }
}

/* Microseconds from the opening to the last chunk. */
static double open_and_copy(unsigned long generation, unsigned long chunks) {
  atomic_store(&all->done.word, 0);
  const double start = bench_seconds();
  atomic_store(&all->claim.word, generation << 32 | chunks << 16);
  help();
  while (atomic_load(&all->done.word) < chunks) {
  }
  return (bench_seconds() - start) * 1e6;
}

static void child(int number) {
  unsigned long round = 0;
  bench_pin(number);
  while (atomic_load(&all->over.word) == 0) {
    if (number == 0 && atomic_load(&all->round.word) != round) {
      round = atomic_load(&all->round.word);
      memset(all->from, (int)round, all->bytes);
      atomic_store(&all->written.word, round);
    }
    if (number == 0 ? all->helpers >= 1 : number <= (int)all->helpers) help();
  }
  _exit(0);
}

/* `processes` copy: 1, then 0, then the others. */
static void measure(int processes, unsigned long bytes, unsigned long* round) {
  double times[kRounds];
  unsigned long chunk = bytes / (2ul * (unsigned long)(processes < 2 ? 2 : processes));
  if (chunk < kLeastChunk) chunk = kLeastChunk;
  chunk = (chunk + 4095) / 4096 * 4096;
  all->bytes = bytes;
  all->chunk = chunk;
  all->helpers = (unsigned long)(processes - 1);
  for (int i = 0; i < kRounds; ++i) {
    atomic_store(&all->round.word, ++*round);
    while (atomic_load(&all->written.word) != *round) {
    }
    times[i] = open_and_copy(*round, (bytes + chunk - 1) / chunk);
    if (memcmp(all->to, all->from, bytes) != 0) {
      fprintf(stderr, "floor_copies: wrong bytes\n");
      exit(1);
    }
  }
  char figure[32];
  snprintf(figure, sizeof figure, "copies-%d", processes);
  bench_print(figure, (long)bytes, bench_median(times, kRounds), "us");
}

int main(int argc, char** argv) {
  static const unsigned long sizes[] = {65536, 262144, 1048576, 4194304};
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  int most = CPU_COUNT(&cpus);
  if (argc > 1 && atoi(argv[1]) < most) most = atoi(argv[1]);
  all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (all == MAP_FAILED || most < 2) {
    fprintf(stderr, "floor_copies: needs memory and two processors\n");
    return 1;
  }
  for (int number = 0; number < most; ++number)
    if (number != 1 && fork() == 0) child(number);
  bench_pin(1);
  unsigned long round = 0;
  for (int processes = 1; processes <= most; processes += processes < 4 ? 1 : processes / 2)
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) measure(processes, sizes[s], &round);
  for (int processes = 1; processes <= most; processes += processes < 4 ? 1 : processes / 2) {
    char figure[32];
    all->chunk = 0;
    all->bytes = 0;
    all->helpers = (unsigned long)(processes - 1);
    const double us = open_and_copy(++round, kClaims);
    snprintf(figure, sizeof figure, "claim-%d", processes);
    bench_print(figure, 0, us / kClaims * 1e3, "ns");
  }
  atomic_store(&all->over.word, 1);
  while (wait(NULL) > 0) {
  }
  return 0;
}
