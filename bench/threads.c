/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of each process communicate at the same time.
 *
 *   threads          2 ranks: rate, time and bandwidth of 1, 2, 4 and 8 pairs of threads, each pair with a
 *                    communicator of its own, or all in one with a tag for each
 *   threads single   the same of one thread, under MPI_THREAD_SINGLE: what MPI_THREAD_MULTIPLE costs
 *   threads itself   1 rank: each thread sends to itself on a communicator of its own, so that they share
 *                    nothing but the library: what its locks carry where each thread has a core
 *   threads all      any number of ranks: four threads of each exchange messages with all other ranks
 *
 * Sizes in the output are numbers of threads, for `all` numbers of ranks.
 *
 * Batches are bounded by time, and rounds are counted: with more threads than cores a round takes a
 * microsecond as long as those who need each other run at the same time, and a time slice of the scheduler,
 * thousands of times as long, when they do not and an MPI polls without giving its core away. Both happen in
 * one run, so no number of rounds suits. */
#include "bench.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
  kMostThreads = 8,
  kAllThreads = 4,
  kWindow = 64,  /* messages under way in each thread */
  kShort = 8,    /* bytes of a message where rate and time are asked for */
  kLong = 65536, /* and bandwidth */
  kLongWindow = 16,
  kBatches = 9,
  kBatchMs = 50, /* the threads wait for each other before it and after it, which takes some 50 us */
  kPatience = 1  /* seconds; a figure that takes longer is the median of fewer batches */
};

struct crew;
typedef struct {
  struct crew* crew; /* null: one thread alone, which watches the clock itself */
  double end;        /* when alone */
  MPI_Comm comm;
  int tag;
  unsigned char* buffer;
  long rounds; /* in this batch */
} worker;

/* Rank 0 says in its messages which round is the last; all have done as many rounds then. */
typedef long (*work)(const worker* me);

typedef struct crew {
  pthread_barrier_t gate; /* the workers, and the thread that measures */
  work task;              /* null: go home */
  atomic_int over;        /* time is up; at rank 0 */
  int threads;
  worker workers[kMostThreads];
} crew;

static int my_rank, ranks;

static void* live(void* argument) {
  worker* const me = argument;
  crew* const all = me->crew;
  for (;;) {
    pthread_barrier_wait(&all->gate);
    if (all->task == NULL) return NULL;
    me->rounds = all->task(me);
    pthread_barrier_wait(&all->gate);
  }
}

/* At rank 0, before it starts round `round`. */
static int is_last(const worker* me, long round) {
  if (me->crew != NULL) return atomic_load_explicit(&me->crew->over, memory_order_relaxed);
  return round % 16 == 0 && bench_seconds() > me->end; /* the clock costs a tenth of a short round */
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

static long windows(const worker* me, int messages, int bytes) {
  long rounds = 0;
  for (int last = 0; !last; ++rounds) {
    if (my_rank == 0) {
      me->buffer[0] = (unsigned char)(last = is_last(me, rounds));
      send_window(me, messages, bytes);
    } else {
      receive_window(me, messages, bytes);
      last = me->buffer[0];
    }
  }
  return rounds;
}

static long rate(const worker* me) { return windows(me, kWindow, kShort); }
static long bandwidth(const worker* me) { return windows(me, kLongWindow, kLong); }

static long itself(const worker* me) {
  MPI_Request requests[2 * kWindow];
  unsigned char* const in = me->buffer + kWindow * kShort;
  long rounds = 0;
  for (int last = 0; !last; ++rounds) {
    last = is_last(me, rounds);
    for (int i = 0; i < kWindow; ++i)
      MPI_Irecv(in + i * kShort, kShort, MPI_BYTE, 0, 0, me->comm, &requests[i]);
    for (int i = 0; i < kWindow; ++i)
      MPI_Isend(me->buffer + i * kShort, kShort, MPI_BYTE, 0, 0, me->comm, &requests[kWindow + i]);
    MPI_Waitall(2 * kWindow, requests, MPI_STATUSES_IGNORE);
  }
  return rounds;
}

static long pingpong(const worker* me) {
  long rounds = 0;
  for (int last = 0; !last; ++rounds) {
    if (my_rank == 0) {
      me->buffer[0] = (unsigned char)(last = is_last(me, rounds));
      MPI_Send(me->buffer, kShort, MPI_BYTE, 1, me->tag, me->comm);
    }
    MPI_Recv(me->buffer, kShort, MPI_BYTE, 1 - my_rank, me->tag, me->comm, MPI_STATUS_IGNORE);
    if (my_rank == 1) {
      last = me->buffer[0];
      MPI_Send(me->buffer, kShort, MPI_BYTE, 0, me->tag, me->comm);
    }
  }
  return rounds;
}

/* Receives from everybody, sends to everybody, waits for all. */
static long everybody(const worker* me) {
  MPI_Request* const requests = malloc(2 * (size_t)ranks * sizeof(MPI_Request));
  long rounds = 0;
  for (int last = 0; !last; ++rounds) {
    int count = 0;
    if (my_rank == 0) {
      last = is_last(me, rounds);
      for (int r = 0; r < ranks; ++r) me->buffer[(ranks + r) * kShort] = (unsigned char)last;
    }
    for (int r = 0; r < ranks; ++r)
      if (r != my_rank)
        MPI_Irecv(me->buffer + r * kShort, kShort, MPI_BYTE, r, me->tag, me->comm, &requests[count++]);
    for (int r = 0; r < ranks; ++r)
      if (r != my_rank)
        MPI_Isend(me->buffer + (ranks + r) * kShort, kShort, MPI_BYTE, r, me->tag, me->comm,
                  &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (my_rank != 0) last = me->buffer[0]; /* from rank 0 */
  }
  free(requests);
  return rounds;
}

/* Seconds of one round, as the median of some batches after one that warms everything up; of that one if
 * it takes too long. Rank 0 decides. */
static double seconds_of(double (*batch)(void* measured), void* measured) {
  double batches[kBatches];
  const double begin = bench_seconds();
  const double first = batch(measured);
  int count = 0;
  for (;;) {
    int more = count < kBatches && bench_seconds() - begin < kPatience;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!more) break;
    batches[count++] = batch(measured);
  }
  return count == 0 ? first : bench_median(batches, count);
}

/* Of a round of each thread, at rank 0. */
static double crew_batch(void* measured) {
  crew* const all = measured;
  const struct timespec pause = {0, kBatchMs * 1000000L};
  long rounds = 0;
  atomic_store(&all->over, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_seconds();
  pthread_barrier_wait(&all->gate);
  if (my_rank == 0) nanosleep(&pause, NULL);
  atomic_store(&all->over, 1);
  pthread_barrier_wait(&all->gate);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = bench_seconds() - start;
  for (int i = 0; i < all->threads; ++i) rounds += all->workers[i].rounds;
  return seconds * all->threads / (double)rounds;
}

static double crew_seconds(crew* all, work task) {
  all->task = task;
  return seconds_of(crew_batch, all);
}

static void hire(crew* all, int threads, int own, pthread_t* ids) {
  pthread_barrier_init(&all->gate, NULL, (unsigned)threads + 1);
  all->threads = threads;
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

static void measure(int threads, int own, const char* kind) {
  crew all;
  pthread_t ids[kMostThreads];
  hire(&all, threads, own, ids);
  const double sent = (double)threads * kWindow;
  print("rate", kind, threads, sent / crew_seconds(&all, rate) / 1e6, "M/s");
  print("latency", kind, threads, crew_seconds(&all, pingpong) / 2 * 1e6, "us");
  const double bytes = (double)threads * kLongWindow * kLong;
  print("bandwidth", kind, threads, bytes / crew_seconds(&all, bandwidth) / 1e9, "GB/s");
  dismiss(&all, threads, own, ids);
}

/* One thread, which is the one that has initialised MPI. */
typedef struct {
  worker me;
  work task;
} soloist;

static double solo_batch(void* measured) {
  soloist* const solo = measured;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_seconds();
  solo->me.end = start + kBatchMs * 1e-3;
  const long rounds = solo->task(&solo->me);
  MPI_Barrier(MPI_COMM_WORLD);
  return (bench_seconds() - start) / (double)rounds;
}

static double solo_seconds(soloist* solo, work task) {
  solo->task = task;
  return seconds_of(solo_batch, solo);
}

static void measure_alone(const char* kind) {
  soloist solo = {.me = {.comm = MPI_COMM_WORLD, .buffer = bench_buffer((size_t)kLongWindow * kLong)}};
  print("rate", kind, 1, kWindow / solo_seconds(&solo, rate) / 1e6, "M/s");
  print("latency", kind, 1, solo_seconds(&solo, pingpong) / 2 * 1e6, "us");
  print("bandwidth", kind, 1, (double)kLongWindow * kLong / solo_seconds(&solo, bandwidth) / 1e9, "GB/s");
  free(solo.me.buffer);
}

static void measure_everybody(void) {
  crew all;
  pthread_t ids[kMostThreads];
  hire(&all, kAllThreads, 1, ids);
  print("exchange", "all", ranks, crew_seconds(&all, everybody) * 1e6, "us");
  dismiss(&all, kAllThreads, 1, ids);
}

static void measure_itself(int threads) {
  crew all;
  pthread_t ids[kMostThreads];
  hire(&all, threads, 1, ids);
  print("rate", "itself", threads, (double)threads * kWindow / crew_seconds(&all, itself) / 1e6, "M/s");
  dismiss(&all, threads, 1, ids);
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
  } else if (strcmp(what, "itself") == 0 && ranks == 1) {
    for (int threads = 1; threads <= kMostThreads; threads *= 2) measure_itself(threads);
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
