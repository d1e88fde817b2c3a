/* SPDX-License-Identifier: BSD-3-Clause */
/* The last of three ranks is killed while it holds, or waits for, a lock of a window, or is to post or to
 * complete, and the job is kept (mpiexec -enable-recovery).
 * Usage: deaths exclusive | all | shared | waiter | origin | target | served | remote | freed | requests |
 * long | nodes */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static MPI_Win win;
static volatile int* shared; /* 0: the victim is where it should be; 1: its pid; 2: how many had the lock */
static int rank;

static int class_of(int code) {
  int error_class = code;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static void expect(const char* what, int got, int wanted) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (class_of(got) == wanted) return;
  MPI_Error_string(got, text, &length);
  fprintf(stderr, "rank %d: %s: code %d, expected class %d: %s\n", rank, what, got, wanted, text);
  exit(3);
}

static void nap(void) {
  const struct timespec some = {0, 20000000};
  nanosleep(&some, NULL);
}

static void victim_is_there(void) {
  while (shared[0] == 0) {
    MPI_Win_sync(win);
    nap();
  }
}

/* The lock that the victim holds is freed: of those who ask for it one is told, and then all can have it. Who
 * is told waits no longer: the other one has it twice before it asks again, and is not behind it. */
static void holder_dies(int type) {
  int code;
  if (rank == 2) {
    expect("lock", type == 0 ? MPI_Win_lock_all(0, win) : MPI_Win_lock(type, 0, 0, win), MPI_SUCCESS);
    shared[0] = 1;
    nap();
    raise(SIGKILL);
  }
  victim_is_there();
  code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  if (class_of(code) == MPI_ERR_PROC_ABORTED) {
    printf("rank %d is told\n", rank);
    fflush(stdout);
    while (shared[3] == 0) {
      MPI_Win_sync(win);
      nap();
    }
    code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  } else {
    expect("lock", code, MPI_SUCCESS);
    expect("unlock", MPI_Win_unlock(0, win), MPI_SUCCESS);
    code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    shared[3] = 1;
  }
  expect("lock after the death", code, MPI_SUCCESS);
  shared[2] += 1;
  expect("unlock", MPI_Win_unlock(0, win), MPI_SUCCESS);
}

/* Who waits behind the victim, and before it, gets the lock without an error. */
static void waiter_dies(void) {
  if (rank == 0) {
    expect("lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
    shared[0] = 1;
    for (int i = 0; i < 10; ++i) nap();
    kill((pid_t)shared[1], SIGKILL);
    for (int i = 0; i < 10; ++i) nap();
    shared[2] += 1;
    expect("unlock", MPI_Win_unlock(0, win), MPI_SUCCESS);
    return;
  }
  victim_is_there();
  if (rank == 1) {
    for (int i = 0; i < 5; ++i) nap();
  }
  expect("lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
  shared[2] += 1;
  expect("unlock", MPI_Win_unlock(0, win), MPI_SUCCESS);
}

static MPI_Group others(void) {
  MPI_Group all, some;
  MPI_Win_get_group(win, &all);
  MPI_Group_excl(all, 1, &rank, &some);
  MPI_Group_free(&all);
  return some;
}

/* Rank 0 is told of the origin that is gone when the other one has completed, and not before. */
static void origin_dies(void) {
  MPI_Group group = others();
  if (rank == 0) {
    expect("post", MPI_Win_post(group, 0, win), MPI_SUCCESS);
    expect("wait", MPI_Win_wait(win), MPI_ERR_PROC_ABORTED);
    if (shared[3] != 7) exit(5);
    printf("rank 0 is told\n");
    fflush(stdout);
    shared[2] = 2;
  } else {
    const int seven = 7, zero = 0;
    MPI_Group first;
    MPI_Group_free(&group);
    MPI_Win_get_group(win, &group);
    MPI_Group_incl(group, 1, &zero, &first);
    expect("start", MPI_Win_start(first, 0, win), MPI_SUCCESS);
    expect("put", MPI_Put(&rank, 1, MPI_INT, 0, 4 + rank, 1, MPI_INT, win), MPI_SUCCESS);
    if (rank == 2) raise(SIGKILL);
    for (int i = 0; i < 15; ++i) nap();
    expect("put", MPI_Put(&seven, 1, MPI_INT, 0, 3, 1, MPI_INT, win), MPI_SUCCESS);
    expect("complete", MPI_Win_complete(win), MPI_SUCCESS);
    MPI_Group_free(&first);
  }
  MPI_Group_free(&group);
}

/* Who started an epoch for a target that is gone is told by the operation, or at the end of the epoch; the
 * other target is served. */
static void target_dies(void) {
  MPI_Group group = others();
  int value = 7;
  if (rank == 2) {
    for (int i = 0; i < 5; ++i) nap();
    raise(SIGKILL);
  }
  if (rank == 0) {
    expect("start", MPI_Win_start(group, 0, win), MPI_SUCCESS);
    expect("put", MPI_Put(&value, 0, MPI_INT, 2, 0, 0, MPI_INT, win), MPI_ERR_PROC_ABORTED);
    expect("put", MPI_Put(&value, 0, MPI_INT, 1, 0, 0, MPI_INT, win), MPI_SUCCESS);
    expect("complete", MPI_Win_complete(win), MPI_ERR_PROC_ABORTED);
    printf("rank 0 is told\n");
    fflush(stdout);
    shared[2] = 2;
  } else {
    const int zero = 0;
    MPI_Group first;
    MPI_Group_free(&group);
    MPI_Win_get_group(win, &group);
    MPI_Group_incl(group, 1, &zero, &first);
    expect("post", MPI_Win_post(first, 0, win), MPI_SUCCESS);
    expect("wait", MPI_Win_wait(win), MPI_SUCCESS);
    MPI_Group_free(&first);
  }
  MPI_Group_free(&group);
}

/* The living meet before they free the window. */
static void meet(void) {
  int mine = 0, other;
  MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 0, &other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

/* The victim is a target by messages, and dies with operations of the others on their way, or with its lock
 * given to rank 1, which it can give to nobody after that. */
static void served_target_dies(void) {
  static char long_one[4000000];
  char* base;
  int code = MPI_SUCCESS;
  MPI_Request request;
  MPI_Win_allocate((MPI_Aint)sizeof long_one, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  if (rank == 2) {
    while (*(volatile char*)base == 0) MPI_Win_sync(win);
    raise(SIGKILL);
  }
  memset(long_one, 1, sizeof long_one);
  if (rank == 1) expect("lock", MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win), MPI_SUCCESS);
  if (rank == 0) expect("lock_all", MPI_Win_lock_all(0, win), MPI_SUCCESS);
  for (int i = 0; i < 100000 && code == MPI_SUCCESS; ++i) {
    expect("put", MPI_Put(long_one, sizeof long_one, MPI_CHAR, 2, 0, sizeof long_one, MPI_CHAR, win),
           MPI_SUCCESS);
    code = MPI_Win_flush(2, win);
  }
  expect("flush", code, MPI_ERR_PROC_ABORTED);
  /* So do later ones; requests end, too. */
  expect("get", MPI_Rget(long_one, 8, MPI_CHAR, 2, 0, 8, MPI_CHAR, win, &request), MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect("wait", MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
  code = rank == 1 ? MPI_Win_unlock(2, win) : MPI_Win_unlock_all(win);
  expect("unlock", code, MPI_ERR_PROC_ABORTED);
  /* The living go on with each other. */
  expect("lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, win), MPI_SUCCESS);
  expect("put", MPI_Put(long_one, 8, MPI_CHAR, 1 - rank, 0, 8, MPI_CHAR, win), MPI_SUCCESS);
  expect("unlock", MPI_Win_unlock(1 - rank, win), MPI_SUCCESS);
  meet();
  expect("free", MPI_Win_free(&win), MPI_SUCCESS);
  MPI_Finalize();
  printf("rank %d goes on\n", rank);
  exit(0);
}

/* The victim holds, by a message, the lock of rank 0: who waits for it gets it. */
static void remote_holder_dies(void) {
  char *base, one = 1;
  MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  if (rank == 2) {
    expect("lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
    expect("put", MPI_Put(&one, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, win), MPI_SUCCESS);
    expect("flush", MPI_Win_flush(0, win), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    nap();
    raise(SIGKILL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expect("lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
  expect("put", MPI_Put(&one, 1, MPI_CHAR, 0, 1, 1, MPI_CHAR, win), MPI_SUCCESS);
  expect("unlock", MPI_Win_unlock(0, win), MPI_SUCCESS);
  meet();
  expect("free", MPI_Win_free(&win), MPI_SUCCESS);
  MPI_Finalize();
  printf("rank %d goes on\n", rank);
  exit(0);
}

/* Rank 0 knows of the death, and frees the window at once; rank 1 still uses rank 0's part. */
static void freed_early(void) {
  static char long_one[100000];
  char *base, value = 5, got = 0;
  int code = MPI_SUCCESS;
  MPI_Win_allocate((MPI_Aint)sizeof long_one, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) raise(SIGKILL);
  if (rank == 0) {
    expect("lock", MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win), MPI_SUCCESS);
    while (code == MPI_SUCCESS) {
      expect("put", MPI_Put(long_one, sizeof long_one, MPI_CHAR, 2, 0, sizeof long_one, MPI_CHAR, win),
             MPI_SUCCESS);
      code = MPI_Win_flush(2, win);
    }
    expect("flush", code, MPI_ERR_PROC_ABORTED);
    (void)MPI_Win_unlock(2, win);
  } else {
    for (int i = 0; i < 25; ++i) nap();
    for (int i = 0; i < 3; ++i, nap()) {
      expect("lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
      expect("put", MPI_Put(&value, 1, MPI_CHAR, 0, 9, 1, MPI_CHAR, win), MPI_SUCCESS);
      expect("flush", MPI_Win_flush(0, win), MPI_SUCCESS);
      expect("get", MPI_Get(&got, 1, MPI_CHAR, 0, 9, 1, MPI_CHAR, win), MPI_SUCCESS);
      expect("unlock", MPI_Win_unlock(0, win), MPI_SUCCESS);
      if (got != value) exit(6);
    }
  }
  expect("free", MPI_Win_free(&win), MPI_SUCCESS);
  MPI_Finalize();
  printf("rank %d goes on\n", rank);
  exit(0);
}

/* Rank 2 ends while others get from it. A request that ends well has brought the bytes. */
static void gets_from_the_dying(void) {
  enum { kBytes = 1 << 20, kAtOnce = 4, kRounds = 3 };
  static char to[kAtOnce][kBytes];
  MPI_Request gets[kAtOnce];
  char* base;
  int failed = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  memset(base, 7, kBytes);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) {
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  expect("lock", MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win), MPI_SUCCESS);
  for (int round = 0; failed == 0; ++round) {
    if (rank == 0 && round == kRounds) MPI_Send(NULL, 0, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    memset(to, 0, sizeof to);
    for (int i = 0; i < kAtOnce; ++i)
      expect("rget", MPI_Rget(to[i], kBytes, MPI_CHAR, 2, 0, kBytes, MPI_CHAR, win, &gets[i]), MPI_SUCCESS);
    for (int i = 0; i < kAtOnce; ++i) {
      const int code = MPI_Wait(&gets[i], MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) {
        expect("wait", code, MPI_ERR_PROC_ABORTED);
        ++failed;
      } else if (to[i][0] != 7 || to[i][kBytes - 1] != 7) {
        fprintf(stderr, "rank %d: a get has ended well, and its buffer is as it was\n", rank);
        exit(7);
      }
    }
  }
  expect("flush", MPI_Win_flush(2, win), MPI_ERR_PROC_ABORTED);
  (void)MPI_Win_unlock(2, win);
  expect("free", MPI_Win_free(&win), MPI_SUCCESS);
  MPI_Finalize();
  printf("rank %d goes on\n", rank);
  exit(0);
}

/* Rank 1 has locked the window and computes; rank 2 waits for it, and is asked what for. */
static void waits_long(void) {
  char* base;
  MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_name(win, "grid");
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  while (rank == 1) nap();
  if (rank == 2) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Win_free(&win);
}

/* All members get the error, and none waits. */
static void other_nodes(void) {
  int *base, unit, size, lowest = -1;
  MPI_Win none;
  MPI_Aint bytes;
  MPI_Comm node;
  MPI_Group local_peers, world;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect("allocate_shared", MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &none),
         MPI_ERR_RMA_SHARED);
  /* Of an allocated window the parts of the own node can be loaded from; of the others nothing is told. */
  expect("allocate", MPI_Win_allocate(4 + 4 * rank, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &none),
         MPI_SUCCESS);
  MPI_Win_set_errhandler(none, MPI_ERRORS_RETURN);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_group(node, &local_peers);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(world, &size);
  for (int other = size - 1; other >= 0; --other) {
    int here;
    MPI_Group_translate_ranks(world, 1, &other, local_peers, &here);
    expect("query", MPI_Win_shared_query(none, other, &bytes, &unit, (void*)&base), MPI_SUCCESS);
    if (here == MPI_UNDEFINED ? bytes != 0 || base != NULL : bytes != 4 + 4 * other || base == NULL) exit(8);
    if (here == 0) lowest = other;
  }
  expect("query", MPI_Win_shared_query(none, MPI_PROC_NULL, &bytes, &unit, (void*)&base), MPI_SUCCESS);
  if (bytes != 4 + 4 * lowest || base == NULL) exit(9);
  MPI_Win_free(&none);
  MPI_Group_free(&local_peers);
  MPI_Group_free(&world);
  MPI_Comm_free(&node);
  MPI_Finalize();
  printf("rank %d goes on\n", rank);
  exit(0);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  int *mine, unit;
  MPI_Aint bytes;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(way, "nodes") == 0) other_nodes();
  if (strcmp(way, "served") == 0) served_target_dies();
  if (strcmp(way, "remote") == 0) remote_holder_dies();
  if (strcmp(way, "freed") == 0) freed_early();
  if (strcmp(way, "requests") == 0) gets_from_the_dying();
  if (strcmp(way, "long") == 0) waits_long();
  MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_shared_query(win, 0, &bytes, &unit, (void*)&shared);
  if (rank == 2) shared[1] = (int)getpid();
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(way, "exclusive") == 0) holder_dies(MPI_LOCK_EXCLUSIVE);
  if (strcmp(way, "shared") == 0) holder_dies(MPI_LOCK_SHARED);
  if (strcmp(way, "all") == 0) holder_dies(0);
  if (strcmp(way, "waiter") == 0) waiter_dies();
  if (strcmp(way, "origin") == 0) origin_dies();
  if (strcmp(way, "target") == 0) target_dies();
  while (shared[2] < 2) {
    MPI_Win_sync(win);
    nap();
  }
  /* What all have to do together fails; the window can be freed all the same. */
  expect("fence", MPI_Win_fence(0, win), MPI_ERR_PROC_ABORTED);
  expect("free", MPI_Win_free(&win), MPI_SUCCESS);
  if (win != MPI_WIN_NULL) return 4;
  MPI_Finalize();
  printf("rank %d goes on\n", rank);
  return 0;
}
