/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine allows between two processes, without any MPI:
 *   floor handover   a cache line handed over and back: one-way time
 *   floor copies     a message copied into a shared buffer, and out again by the other side: one-way time
 *   floor both       both of them
 * The processes are pinned to the first two CPUs. */
#include "bench.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { kBatches = 11, kLargest = 4194304 };

struct shared {
  _Alignas(128) atomic_uint to_child;
  _Alignas(128) atomic_uint to_parent;
  _Alignas(4096) unsigned char data[kLargest];
};

static void wait_for(atomic_uint* flag, unsigned value) {
  while (atomic_load_explicit(flag, memory_order_acquire) != value) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

/* One batch on one side; the parent's return value is the one-way time in seconds. */
static double batch(struct shared* s, unsigned char* mine, size_t bytes, int rounds, unsigned* turn,
                    int parent) {
  atomic_uint* set = parent ? &s->to_child : &s->to_parent;
  atomic_uint* get = parent ? &s->to_parent : &s->to_child;
  const double start = bench_seconds();
  for (int i = 0; i < rounds; ++i) {
    const unsigned value = ++*turn;
    for (int half = 0; half < 2; ++half) {
      if ((half == 0) == parent) {
        if (bytes) memcpy(s->data, mine, bytes);
        atomic_store_explicit(set, value, memory_order_release);
      } else {
        wait_for(get, value);
        if (bytes) memcpy(mine, s->data, bytes);
      }
    }
  }
  return (bench_seconds() - start) / rounds / 2;
}

static void side(struct shared* s, int parent, int handover, int copies) {
  static const size_t sizes[] = {0,    1,     8,     64,    256,    1024,    2048,   4096,
                                 8192, 16384, 32768, 65536, 262144, 1048576, 4194304};
  unsigned char* mine = bench_buffer(kLargest);
  unsigned turn = 0;
  bench_pin(parent ? 0 : 1);
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const size_t bytes = sizes[i];
    if (bytes == 0 ? !handover : !copies) continue;
    const int rounds = bytes <= 4096 ? 1500 : 1500 / (int)(bytes / 4096) + 4;
    double batches[kBatches];
    batch(s, mine, bytes, rounds, &turn, parent);
    for (int b = 0; b < kBatches; ++b) batches[b] = batch(s, mine, bytes, rounds, &turn, parent);
    if (parent)
      bench_print(bytes ? "copies" : "handover", (long)bytes, bench_median(batches, kBatches) * 1e6, "us");
  }
  free(mine);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "both";
  const int handover = strcmp(what, "copies") != 0, copies = strcmp(what, "handover") != 0;
  struct shared* s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) {
    perror("floor: mmap");
    return 1;
  }
  const pid_t child = fork();
  if (child < 0) {
    perror("floor: fork");
    return 1;
  }
  if (child == 0) {
    side(s, 0, handover, copies);
    _exit(0);
  }
  side(s, 1, handover, copies);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
