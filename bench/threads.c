/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of each process communicate at the same time.
 *
 *   threads          2 ranks: rate, time and bandwidth of 1, 2, 4 and 8 pairs of threads, each pair with a
 *                    communicator of its own, or all in one with a tag for each
 *   threads single   the same of one thread, under MPI_THREAD_SINGLE: what MPI_THREAD_MULTIPLE costs
 *   threads all      any number of ranks: four threads of each exchange messages with all other ranks
 *
 * Sizes in the output are numbers of threads, for `all` numbers of ranks. */
#include "bench.h"

#include <mpi.h>
#include <pthread.h>

enum {
  kMostThreads = 8,
  kAllThreads = 4,
  kWindow = 64,  /* messages under way in each thread */
  kShort = 8,    /* bytes of a message where rate and time are asked for */
  kLong = 65536, /* and bandwidth */
  kLongWindow = 16,
  kBatches = 9,
  kPatience = 2 /* seconds; a figure that takes longer is the median of fewer batches */
};

struct crew;
typedef struct {
  struct crew* crew;
  MPI_Comm comm;
  int tag;
  unsigned char* buffer;
} worker;

typedef void (*work)(const worker* me, int rounds);

typedef struct crew {
  pthread_barrier_t gate; /* the workers, and the thread that measures */
  work task;              /* null: go home */
  int rounds;
  worker workers[kMostThreads];
} crew;

static int my_rank, ranks;

static void* live(void* argument) {
  const worker* const me = argument;
  crew* const all = me->crew;
  for (;;) {
    pthread_barrier_wait(&all->gate);
    if (all->task == NULL) return NULL;
    all->task(me, all->rounds);
    pthread_barrier_wait(&all->gate);
  }
}

static void send_window(const worker* me, int messages, int bytes) {
  MPI_Request requests[kWindow];
  char token = 0;
  for (int i = 0; i < messages; ++i)
    MPI_Isend(me->buffer + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, 1, me->tag, me->comm, &requests[i]);
  MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  MPI_Recv(&token, 1, MPI_CHAR, 1, me->tag, me->comm, MPI_STATUS_IGNORE);
}

static void receive_window(const worker* me, int messages, int bytes) {
  MPI_Request requests[kWindow];
  char token = 0;
  for (int i = 0; i < messages; ++i)
    MPI_Irecv(me->buffer + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, 0, me->tag, me->comm, &requests[i]);
  MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  MPI_Send(&token, 1, MPI_CHAR, 0, me->tag, me->comm);
}

static void windows(const worker* me, int rounds, int messages, int bytes) {
  for (int i = 0; i < rounds; ++i) {
    if (my_rank == 0)
      send_window(me, messages, bytes);
    else
      receive_window(me, messages, bytes);
  }
}

static void rate(const worker* me, int rounds) { windows(me, rounds, kWindow, kShort); }
static void bandwidth(const worker* me, int rounds) { windows(me, rounds, kLongWindow, kLong); }

static void pingpong(const worker* me, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    if (my_rank == 0) MPI_Send(me->buffer, kShort, MPI_BYTE, 1, me->tag, me->comm);
    MPI_Recv(me->buffer, kShort, MPI_BYTE, 1 - my_rank, me->tag, me->comm, MPI_STATUS_IGNORE);
    if (my_rank == 1) MPI_Send(me->buffer, kShort, MPI_BYTE, 0, me->tag, me->comm);
  }
}

/* Receives from everybody, sends to everybody, waits for all. */
static void everybody(const worker* me, int rounds) {
  MPI_Request* const requests = malloc(2 * (size_t)ranks * sizeof(MPI_Request));
  for (int i = 0; i < rounds; ++i) {
    int count = 0;
    for (int r = 0; r < ranks; ++r)
      if (r != my_rank)
        MPI_Irecv(me->buffer + r * kShort, kShort, MPI_BYTE, r, me->tag, me->comm, &requests[count++]);
    for (int r = 0; r < ranks; ++r)
      if (r != my_rank)
        MPI_Isend(me->buffer + (ranks + r) * kShort, kShort, MPI_BYTE, r, me->tag, me->comm,
                  &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  }
  free(requests);
}

/* Seconds of one round, as the median of some batches; the slowest thread of both sides counts. */
static double seconds_of(crew* all, work task, int rounds) {
  double batches[kBatches];
  int count = 0, more = 1;
  double begin = 0;
  all->task = task;
  all->rounds = rounds;
  for (int b = -1; b < kBatches && more; ++b) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (b == 0) begin = bench_seconds();
    const double start = bench_seconds();
    pthread_barrier_wait(&all->gate);
    pthread_barrier_wait(&all->gate);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b >= 0) batches[count++] = (bench_seconds() - start) / rounds;
    more = b < 0 || bench_seconds() - begin < kPatience;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return bench_median(batches, count);
}

static void hire(crew* all, int threads, int own, pthread_t* ids) {
  pthread_barrier_init(&all->gate, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; ++i) {
    worker* const w = &all->workers[i];
    w->crew = all;
    w->tag = i;
    w->comm = MPI_COMM_WORLD;
    if (own) MPI_Comm_dup(MPI_COMM_WORLD, &w->comm);
    w->buffer = bench_buffer((size_t)kLongWindow * kLong);
    if (pthread_create(&ids[i], NULL, live, w) != 0) {
      fprintf(stderr, "no thread\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
}

static void dismiss(crew* all, int threads, int own, const pthread_t* ids) {
  all->task = NULL;
  pthread_barrier_wait(&all->gate);
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
    if (own) MPI_Comm_free(&all->workers[i].comm);
    free(all->workers[i].buffer);
  }
  pthread_barrier_destroy(&all->gate);
}

static void print(const char* figure, const char* kind, int size, double value, const char* unit) {
  char name[40];
  snprintf(name, sizeof name, "%s-%s", figure, kind);
  if (my_rank == 0) bench_print(name, size, value, unit);
}

/* The threads wait for each other before a batch and after it, which takes some 50 us: batches are long. */
static void measure(int threads, int own, const char* kind) {
  crew all;
  pthread_t ids[kMostThreads];
  hire(&all, threads, own, ids);
  const double sent = (double)threads * kWindow;
  print("rate", kind, threads, sent / seconds_of(&all, rate, 800 / threads) / 1e6, "M/s");
  print("latency", kind, threads, seconds_of(&all, pingpong, 2000 / threads) / 2 * 1e6, "us");
  const double bytes = (double)threads * kLongWindow * kLong;
  print("bandwidth", kind, threads, bytes / seconds_of(&all, bandwidth, 40 / threads) / 1e9, "GB/s");
  dismiss(&all, threads, own, ids);
}

/* One thread, which is the one that has initialised MPI. */
static double alone(worker* me, work task, int rounds) {
  double batches[kBatches];
  for (int b = -1; b < kBatches; ++b) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_seconds();
    task(me, rounds);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b >= 0) batches[b] = (bench_seconds() - start) / rounds;
  }
  return bench_median(batches, kBatches);
}

static void measure_alone(const char* kind) {
  worker me = {NULL, MPI_COMM_WORLD, 0, bench_buffer((size_t)kLongWindow * kLong)};
  print("rate", kind, 1, kWindow / alone(&me, rate, 800) / 1e6, "M/s");
  print("latency", kind, 1, alone(&me, pingpong, 8000) / 2 * 1e6, "us");
  print("bandwidth", kind, 1, (double)kLongWindow * kLong / alone(&me, bandwidth, 40) / 1e9, "GB/s");
  free(me.buffer);
}

static void measure_everybody(void) {
  crew all;
  pthread_t ids[kMostThreads];
  hire(&all, kAllThreads, 1, ids);
  print("exchange", "all", ranks, seconds_of(&all, everybody, 200) * 1e6, "us");
  dismiss(&all, kAllThreads, 1, ids);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const int single = strcmp(what, "single") == 0;
  const int wanted = single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
  int provided;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (provided < wanted) {
    if (my_rank == 0) fprintf(stderr, "threads: this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (strcmp(what, "all") == 0) {
    bench_unpin();
    measure_everybody();
  } else if (ranks != 2) {
    if (my_rank == 0) fprintf(stderr, "threads: needs 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  } else {
    bench_pin(my_rank);
    measure_alone(single ? "single" : "multiple");
    bench_unpin();
    for (int threads = 1; threads <= kMostThreads && !single; threads *= 2) {
      measure(threads, 1, "own");
      if (threads > 1) measure(threads, 0, "shared");
    }
  }
  MPI_Finalize();
  return 0;
}
