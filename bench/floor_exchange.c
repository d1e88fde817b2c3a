/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine allows two processes that send to each other at the same time, without any MPI:
 *   pull   one copy, from memory that both map: nothing is faster, but user buffers are not mapped by both
 *   get    one copy by the kernel (process_vm_readv), each process with its own processor
 *   loan   one copy by the kernel out of a pipe that refers to the sender's pages (vmsplice), in turns
 *   ring   two copies through a ring of chunks, each process copying in and out in turn
 * Lines: `exchange-<way>`, the time of one message each way, and `both-<way>`, a window of 32 messages, in
 * bytes of both directions.
 * Usage: floor_exchange [chunk bytes [chunks in a ring [chunks copied at a turn]]] */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { kBatches = 11, kWindow = 32, kLargest = 4194304, kRingLargest = 1048576 };

/* Written by one process, read by the other. */
struct outgoing {
  _Alignas(128) atomic_ulong done; /* messages that the writer has got from the other */
  _Alignas(128) atomic_ulong written;
  _Alignas(128) atomic_ulong read; /* of the other's chunks */
  _Alignas(128) uintptr_t address;
  pid_t pid;
  _Alignas(4096) unsigned char ring[kRingLargest];
  _Alignas(4096) unsigned char data[kLargest];
};

struct side {
  struct outgoing *mine, *other;
  unsigned char *out, *in; /* private buffers */
  unsigned long written, read, rounds;
  int lent, borrowed; /* ends of two pipes */
};

static size_t chunk_bytes = 16384, chunks = 16, turn = 1;

static void pause_a_moment(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/* Tells the other that a message has been got, and waits until it has got ours: then the buffers are free. */
static void meet(struct side* s) {
  atomic_store_explicit(&s->mine->done, ++s->rounds, memory_order_release);
  while (atomic_load_explicit(&s->other->done, memory_order_acquire) < s->rounds) pause_a_moment();
}

static void pull(struct side* s, size_t bytes, int messages) {
  for (int i = 0; i < messages; ++i) {
    memcpy(s->in, s->other->data, bytes);
    __asm__ volatile("" : : "r"(s->in) : "memory");
  }
  meet(s);
}

static void get(struct side* s, size_t bytes, int messages) {
  for (int i = 0; i < messages; ++i) {
    const struct iovec here = {s->in, bytes}, there = {(void*)s->other->address, bytes};
    if (process_vm_readv(s->other->pid, &here, 1, &there, 1, 0) != (ssize_t)bytes) {
      perror("floor_exchange: process_vm_readv");
      exit(1);
    }
  }
  meet(s);
}

static int went_well(ssize_t moved, const char* what) {
  if (moved >= 0) return 1;
  if (errno != EAGAIN) {
    perror(what);
    exit(1);
  }
  return 0;
}

static void loan(struct side* s, size_t bytes, int messages) {
  for (int i = 0; i < messages; ++i)
    for (size_t lent = 0, taken = 0; lent < bytes || taken < bytes;) {
      const struct iovec rest = {s->out + lent, bytes - lent};
      if (lent < bytes) {
        const ssize_t moved = vmsplice(s->lent, &rest, 1, SPLICE_F_NONBLOCK);
        if (went_well(moved, "floor_exchange: vmsplice")) lent += (size_t)moved;
      }
      if (taken < bytes) {
        const ssize_t moved = read(s->borrowed, s->in + taken, bytes - taken);
        if (went_well(moved, "floor_exchange: read")) taken += (size_t)moved;
      }
    }
  meet(s);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void copy_in(struct side* s, size_t at, size_t bytes) {
  memcpy(s->mine->ring + s->written % chunks * chunk_bytes, s->out + at, bytes);
  atomic_store_explicit(&s->mine->written, ++s->written, memory_order_release);
}

static void copy_out(struct side* s, size_t at, size_t bytes) {
  memcpy(s->in + at, s->other->ring + s->read % chunks * chunk_bytes, bytes);
  atomic_store_explicit(&s->mine->read, ++s->read, memory_order_release);
}

static void ring(struct side* s, size_t bytes, int messages) {
  const size_t total = bytes * (size_t)messages; /* chunk_bytes divides bytes, or is the larger */
  for (size_t in = 0, out = 0; in < total || out < total;) {
    for (size_t i = 0; i < turn && out < total; ++i) {
      if (s->written - atomic_load_explicit(&s->other->read, memory_order_acquire) == chunks) break;
      const size_t now = smaller(chunk_bytes, bytes - out % bytes);
      copy_in(s, out % bytes, now);
      out += now;
    }
    for (size_t i = 0; i < turn && in < total; ++i) {
      if (atomic_load_explicit(&s->other->written, memory_order_acquire) == s->read) break;
      const size_t now = smaller(chunk_bytes, bytes - in % bytes);
      copy_out(s, in % bytes, now);
      in += now;
    }
  }
}

static const struct {
  const char* name;
  void (*run)(struct side* s, size_t bytes, int messages);
} kWays[] = {{"pull", pull}, {"get", get}, {"loan", loan}, {"ring", ring}};

static double median_of(struct side* s, unsigned way, size_t bytes, int messages) {
  const int rounds = (int)(8388608 / bytes / (size_t)messages) + 1;
  double batches[kBatches];
  kWays[way].run(s, bytes, messages);
  for (int b = 0; b < kBatches; ++b) {
    meet(s);
    const double start = bench_seconds();
    for (int i = 0; i < rounds; ++i) kWays[way].run(s, bytes, messages);
    meet(s);
    batches[b] = (bench_seconds() - start) / rounds;
  }
  return bench_median(batches, kBatches);
}

static void run(struct side* s, int parent) {
  static const size_t sizes[] = {16384, 65536, 262144, 1048576, 4194304};
  bench_pin(parent ? 0 : 1);
  s->out = bench_buffer(kLargest);
  s->in = bench_buffer(kLargest);
  memset(s->mine->data, 1, kLargest);
  memset(s->mine->ring, 1, kRingLargest);
  s->mine->address = (uintptr_t)s->out;
  s->mine->pid = getpid();
  meet(s);
  for (unsigned way = 0; way < sizeof kWays / sizeof *kWays; ++way)
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i)
      for (int window = 0; window < 2; ++window) {
        const int messages = window ? kWindow : 1;
        const double seconds = median_of(s, way, sizes[i], messages);
        char name[32];
        snprintf(name, sizeof name, "%s-%s", window ? "both" : "exchange", kWays[way].name);
        if (!parent) continue;
        if (window)
          bench_print(name, (long)sizes[i], 2e-9 * (double)sizes[i] * messages / seconds, "GB/s");
        else
          bench_print(name, (long)sizes[i], seconds * 1e6, "us");
      }
}

int main(int argc, char** argv) {
  if (argc > 1) chunk_bytes = (size_t)atol(argv[1]);
  if (argc > 2) chunks = (size_t)atol(argv[2]);
  if (argc > 3) turn = (size_t)atol(argv[3]);
  if (chunk_bytes == 0 || chunks == 0 || turn == 0 || chunks > kRingLargest / chunk_bytes) {
    fprintf(stderr, "floor_exchange: a ring has at most %d bytes, and nothing may be 0\n", kRingLargest);
    return 1;
  }
  struct outgoing* shared =
      mmap(NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    perror("floor_exchange: mmap");
    return 1;
  }
  int there[2], back[2];
  if (pipe2(there, O_NONBLOCK) != 0 || pipe2(back, O_NONBLOCK) != 0 ||
      fcntl(there[1], F_SETPIPE_SZ, 1048576) < 0 || fcntl(back[1], F_SETPIPE_SZ, 1048576) < 0) {
    perror("floor_exchange: pipe");
    return 1;
  }
  const pid_t child = fork();
  if (child < 0) {
    perror("floor_exchange: fork");
    return 1;
  }
  struct side side = {&shared[child == 0], &shared[child != 0], NULL, NULL, 0, 0, 0, there[1], back[0]};
  if (child == 0) {
    side.lent = back[1];
    side.borrowed = there[0];
  }
  run(&side, child != 0);
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
