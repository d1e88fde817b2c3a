/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine allows one-sided operations on shared memory, without any MPI: stores and loads with a
 * fence behind them, atomics, copies; and memory of 1 GiB that two processes map. The other process has
 * written the memory before, and sleeps.
 *   floor_onesided handover <processes>   they sleep in a ring, and each wakes the next one before it sleeps
 *                                         again: what a hand-over of a lock that all want takes at least
 *   floor_onesided fence <processes>      as many on each core; they count themselves in one word, and yield
 *                                         until all have: a barrier takes at least that on shared cores */
#include "bench.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { kBatches = 11, kDoubles = 1024, kMiB = 1048576, kMost = 1024, kRounds = 200 };

struct shared {
  _Alignas(128) atomic_long word;
  _Alignas(128) atomic_long lock;
  _Alignas(4096) unsigned char data[kMiB];
};

static struct shared* s;
static unsigned char *origin, *result;

static void put8(void) {
  memcpy(s->data, origin, 8);
  atomic_thread_fence(memory_order_seq_cst);
}
static void get8(void) {
  memcpy(result, s->data, 8);
  atomic_thread_fence(memory_order_seq_cst);
}
static void fetch_and_op(void) { atomic_fetch_add(&s->word, 1); }
static void compare_and_swap(void) {
  long expected = 0;
  atomic_compare_exchange_strong(&s->word, &expected, 0);
}
static void accumulate(void) {
  double* to = (double*)(void*)s->data;
  const double* from = (const double*)(const void*)origin;
  for (int i = 0; i < kDoubles; ++i) to[i] += from[i];
  atomic_thread_fence(memory_order_seq_cst);
}
static void put_mib(void) {
  memcpy(s->data, origin, kMiB);
  atomic_thread_fence(memory_order_seq_cst);
}
static void lock_put_unlock(void) {
  atomic_fetch_add_explicit(&s->lock, 1, memory_order_acquire);
  memcpy(s->data, origin, 8);
  atomic_fetch_sub_explicit(&s->lock, 1, memory_order_release);
}
static void make_shared(void) {
  const size_t bytes = (size_t)1 << 30;
  const int file = memfd_create("floor", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) exit(1);
  for (int process = 0; process < 2; ++process) {
    void* map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) exit(1);
    munmap(map, bytes);
  }
  close(file);
}

static void measure(const char* name, long bytes, void (*step)(void), int rounds) {
  double batches[kBatches];
  for (int i = 0; i < rounds; ++i) step();
  for (int b = 0; b < kBatches; ++b) {
    const double start = bench_seconds();
    for (int i = 0; i < rounds; ++i) {
      step();
      __asm__ volatile("" ::: "memory");
    }
    batches[b] = (bench_seconds() - start) / rounds * 1e6;
  }
  bench_print(name, bytes, bench_median(batches, kBatches), "us");
}

struct turn {
  _Alignas(128) atomic_int word;
};

static void give(struct turn* turn) {
  atomic_store(&turn->word, 1);
  syscall(SYS_futex, &turn->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
static void await(struct turn* turn) {
  while (atomic_exchange(&turn->word, 0) == 0) syscall(SYS_futex, &turn->word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

struct meeting {
  _Alignas(128) atomic_uint come;
  _Alignas(128) atomic_uint round;
};

static void meet(struct meeting* m, unsigned processes) {
  const unsigned round = atomic_load(&m->round);
  if (atomic_fetch_add(&m->come, 1) + 1 == processes) {
    atomic_store(&m->come, 0);
    atomic_store(&m->round, round + 1);
  } else {
    while (atomic_load(&m->round) == round) sched_yield();
  }
}

static int fence(int processes) {
  enum { kFences = 30 };
  struct meeting* m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  double batches[kBatches];
  int me = 0;
  if (m == MAP_FAILED || processes < 2 || processes > kMost) return 1;
  for (int other = 1; other < processes && me == 0; ++other) me = fork() == 0 ? other : 0;
  bench_pin(me);
  for (int b = -1; b < kBatches; ++b) {
    const double start = bench_seconds();
    for (int i = 0; i < kFences; ++i) meet(m, (unsigned)processes);
    if (b >= 0) batches[b] = (bench_seconds() - start) / kFences * 1e6;
  }
  if (me != 0) _exit(0);
  while (wait(NULL) > 0 || errno == EINTR) continue;
  bench_print("fence", processes, bench_median(batches, kBatches), "us");
  return 0;
}

/* Process 0 counts; a round is one hand-over to each. */
static int handover(int processes) {
  struct turn* turns =
      mmap(NULL, sizeof *turns * kMost, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  double batches[kBatches];
  if (turns == MAP_FAILED || processes < 2 || processes > kMost) return 1;
  const int rounds = processes > 2 ? kRounds / 10 : kRounds;
  for (int me = 1; me < processes; ++me) {
    if (fork() != 0) continue;
    for (int i = 0; i < rounds * (kBatches + 1); ++i) {
      await(&turns[me]);
      give(&turns[(me + 1) % processes]);
    }
    _exit(0);
  }
  for (int b = -1; b < kBatches; ++b) {
    const double start = bench_seconds();
    for (int i = 0; i < rounds; ++i) {
      give(&turns[1]);
      await(&turns[0]);
    }
    if (b >= 0) batches[b] = (bench_seconds() - start) / rounds / processes * 1e6;
  }
  while (wait(NULL) > 0 || errno == EINTR) continue;
  bench_print("handover", processes, bench_median(batches, kBatches), "us");
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "handover") == 0) return handover(atoi(argv[2]));
  if (argc > 2 && strcmp(argv[1], "fence") == 0) return fence(atoi(argv[2]));
  s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) {
    perror("floor_onesided: mmap");
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) {
    bench_pin(1);
    memset(s->data, 0, kMiB);
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 1;
  bench_pin(0);
  origin = bench_buffer(kMiB);
  result = bench_buffer(kMiB);
  memset(origin, 0, kMiB);
  measure("put+flush/allocate", 8, put8, 5000);
  measure("get+flush/allocate", 8, get8, 5000);
  measure("fetch_and_op/allocate", 8, fetch_and_op, 5000);
  measure("compare_and_swap/allocate", 8, compare_and_swap, 5000);
  measure("accumulate/allocate", kDoubles * 8, accumulate, 500);
  measure("put+flush/allocate", kMiB, put_mib, 30);
  measure("lock-put-unlock/allocate", 8, lock_put_unlock, 2000);
  measure("make+free/shared", 1L << 30, make_shared, 3);
  free(origin);
  free(result);
  return 0;
}
