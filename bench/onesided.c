/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations on windows; the median over batches, in us.
 *   onesided [without-cas]   np 2: rank 0 works on the memory of rank 1, which waits in a barrier: in a
 *                            window of MPI_Win_allocate (figure/allocate) and one over memory of its own
 *                            (figure/create); then how long making and freeing windows takes
 *   onesided fence           any np: each puts 8 bytes to its right neighbour, and a fence
 *   onesided fence-bound     the same, and each rank keeps to one core: as many on each
 *   onesided handover        any np: all go through one exclusive lock; time from one holder to the next
 *   onesided <figure>        np 2: one of the operations, as put+flush, or make+free, or
 *                            accumulate-computing: of one double, where rank 1 computes and calls no MPI
 * Without-cas leaves MPI_Compare_and_swap out. What an MPI refuses is left out of the output. */
#include "bench.h"

#include <mpi.h>

enum { kBatches = 11, kDoubles = 1024, kPage = 4096, kMiB = 1048576, kHandoverSeconds = 1 };
static const double kWarm = 0.01;      /* s; what a batch takes at most */
static const double kComputing = 0.05; /* s without a call of MPI */

static int me, size, with_cas = 1;
static const char* only = ""; /* the one figure to be measured; none: all */
static unsigned char *origin, *result;
static MPI_Win win;
static const char* flavor;

static void put8(void) {
  MPI_Put(origin, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
  MPI_Win_flush(1, win);
}
static void get8(void) {
  MPI_Get(result, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
  MPI_Win_flush(1, win);
}
static void fetch_and_op(void) {
  MPI_Fetch_and_op(origin, result, MPI_LONG, 1, 0, MPI_SUM, win);
  MPI_Win_flush(1, win);
}
static void compare_and_swap(void) {
  MPI_Compare_and_swap(origin, origin, result, MPI_LONG, 1, 0, win);
  MPI_Win_flush(1, win);
}
static void accumulate(void) {
  MPI_Accumulate(origin, kDoubles, MPI_DOUBLE, 1, 0, kDoubles, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_flush(1, win);
}
static void accumulate_one(void) {
  MPI_Accumulate(origin, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_flush(1, win);
}
static void put_page(void) {
  MPI_Put(origin, kPage, MPI_BYTE, 1, 0, kPage, MPI_BYTE, win);
  MPI_Win_flush(1, win);
}
static void put_mib(void) {
  MPI_Put(origin, kMiB, MPI_BYTE, 1, 0, kMiB, MPI_BYTE, win);
  MPI_Win_flush(1, win);
}
static void lock_put_unlock(void) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Put(origin, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
  MPI_Win_unlock(1, win);
}

static int wanted(const char* name) { return *only == 0 || strcmp(only, name) == 0; }

/* The other ranks wait in MPI. */
static void measure(const char* name, long bytes, void (*step)(void), int most) {
  char figure[64];
  double batches[kBatches];
  if (!wanted(name)) return;
  if (me == 0) {
    int rounds = 0;
    const double warm = bench_seconds();
    while (rounds < most && (rounds == 0 || bench_seconds() - warm < kWarm)) {
      step();
      ++rounds;
    }
    for (int b = 0; b < kBatches; ++b) {
      const double start = bench_seconds();
      for (int i = 0; i < rounds; ++i) step();
      batches[b] = (bench_seconds() - start) / rounds * 1e6;
    }
    snprintf(figure, sizeof figure, "%s/%s", name, flavor);
    bench_print(figure, bytes, bench_median(batches, kBatches), "us");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void compute_until(double end) {
  volatile double value = 1;
  while (bench_seconds() < end)
    for (int i = 0; i < 1000; ++i) value = value * 0.999 + 0.001;
}

/* Rank 0 begins when rank 1 has left the barrier, and ends long before that one has computed; but where the
 * operation takes until then. */
static void measure_computing(void) {
  char figure[64];
  double batches[kBatches];
  for (int b = -1; b < kBatches; ++b) {
    int rounds = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = bench_seconds();
    if (me == 1) compute_until(start + kComputing);
    if (me != 0) continue;
    compute_until(start + kComputing / 5);
    start = bench_seconds();
    do {
      accumulate_one();
      ++rounds;
    } while (bench_seconds() - start < kComputing / 5);
    if (b >= 0) batches[b] = (bench_seconds() - start) / rounds * 1e6;
  }
  snprintf(figure, sizeof figure, "%s/%s", only, flavor);
  if (me == 0) bench_print(figure, sizeof(double), bench_median(batches, kBatches), "us");
  MPI_Barrier(MPI_COMM_WORLD);
}

static void operations(const char* name) {
  flavor = name;
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) MPI_Win_lock_all(0, win);
  measure("put+flush", 8, put8, 5000);
  measure("get+flush", 8, get8, 5000);
  measure("fetch_and_op", 8, fetch_and_op, 5000);
  if (with_cas) measure("compare_and_swap", 8, compare_and_swap, 5000);
  measure("accumulate", kDoubles * 8, accumulate, 500);
  measure("put+flush", kPage, put_page, 2000);
  measure("put+flush", kMiB, put_mib, 30);
  if (strcmp(only, "accumulate-computing") == 0) measure_computing();
  if (me == 0) MPI_Win_unlock_all(win);
  measure("lock-put-unlock", 8, lock_put_unlock, 2000);
  MPI_Win_free(&win);
}

/* Makes a window of one kind; MPI_SUCCESS if this MPI can. */
static int make(int kind, MPI_Aint bytes, void* memory) {
  void* base;
  if (kind == 0) return MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  if (kind == 1) return MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  return MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

static void making(const char* name, int kind, MPI_Aint bytes, void* memory) {
  double batches[kBatches];
  for (int b = -1; b < kBatches; ++b) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_seconds();
    if (make(kind, bytes, memory) != MPI_SUCCESS) return;
    MPI_Win_free(&win);
    if (b >= 0) batches[b] = (bench_seconds() - start) * 1e6;
  }
  if (me == 0) bench_print(name, (long)bytes, bench_median(batches, kBatches), "us");
}

static void pair(void) {
  unsigned char* memory = bench_buffer(kMiB);
  if (make(0, kMiB, NULL) == MPI_SUCCESS) operations("allocate");
  if (make(2, kMiB, memory) == MPI_SUCCESS) operations("create");
  if (wanted("make+free")) {
    making("make+free/allocate", 0, 4096, NULL);
    making("make+free/create", 2, 4096, memory);
    making("make+free/shared", 1, (MPI_Aint)1 << 30, NULL);
  }
  free(memory);
}

/* A crowded node lets a batch take as long as it likes: so batches are short. */
static void fences(void) {
  double batches[kBatches];
  const int rounds = size > 2 ? 30 : 2000, right = (me + 1) % size;
  make(0, 4096, NULL);
  MPI_Win_fence(0, win);
  for (int b = -1; b < kBatches; ++b) {
    const double start = bench_seconds();
    for (int i = 0; i < rounds; ++i) {
      MPI_Put(origin, 8, MPI_BYTE, right, 0, 8, MPI_BYTE, win);
      MPI_Win_fence(0, win);
    }
    if (b >= 0) batches[b] = (bench_seconds() - start) / rounds * 1e6;
  }
  MPI_Win_free(&win);
  if (me == 0) bench_print("fence", size, bench_median(batches, kBatches), "us");
}

/* Who finds another one's rank in the window has been handed the lock. */
static void handover(void) {
  long changes = 0, all = 0;
  make(0, 64, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_seconds();
  while (bench_seconds() - start < kHandoverSeconds) {
    int before = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&before, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    MPI_Put(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    changes += before != me;
  }
  const double seconds = bench_seconds() - start;
  MPI_Reduce(&changes, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Win_free(&win);
  if (me == 0) bench_print("handover", size, seconds / (double)(all > 0 ? all : 1) * 1e6, "us");
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (size == 2 || strcmp(what, "fence-bound") == 0) bench_pin(me);
  with_cas = strcmp(what, "without-cas") != 0;
  origin = bench_buffer(kMiB);
  result = bench_buffer(kMiB);
  memset(origin, 0, kMiB);
  if (strcmp(what, "fence") == 0 || strcmp(what, "fence-bound") == 0) {
    fences();
  } else if (strcmp(what, "handover") == 0) {
    handover();
  } else if (size == 2) {
    if (with_cas) only = what;
    pair();
  } else {
    fprintf(stderr, "onesided: %d ranks, expected 2\n", size);
  }
  free(origin);
  free(result);
  MPI_Finalize();
  return 0;
}
