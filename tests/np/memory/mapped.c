/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of MPI_Alloc_mem between two ranks of a node, in the way that the first argument names; prints what
 * rank 1 has counted: the receiver, which maps. With a second argument it goes on until so much has been
 * mapped. run.py says what is expected. */
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBytes = 300000, kMost = 400000, kMessages = 200, kEnd = 9 };

static int rank;

static void fail(const char* what, long detail) {
  fprintf(stderr, "rank %d: %s (%ld)\n", rank, what, detail);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned long long variable(const char* name, int class) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  unsigned long long number = 0;
  int index, count;
  MPI_T_pvar_session_create(&session);
  if (MPI_T_pvar_get_index(name, class, &index) != MPI_SUCCESS) fail("no such variable", 0);
  MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
  MPI_T_pvar_read(session, handle, &number);
  MPI_T_pvar_handle_free(session, &handle);
  MPI_T_pvar_session_free(&session);
  return number;
}

static int descriptors(void) {
  int count = 0;
  DIR* const all = opendir("/proc/self/fd");
  while (readdir(all) != NULL) ++count;
  closedir(all);
  return count;
}

/* Mappings of objects, this process's own and others'. */
static int maps(void) {
  int count = 0;
  char line[4096];
  FILE* const all = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, all) != NULL) count += strstr(line, "starling-memory") != NULL;
  fclose(all);
  return count;
}

/* What message `seed` carries: no two of 251 in a row are alike. */
static const unsigned char* content(int seed) {
  enum { kPeriod = 251 };
  static unsigned char all[kPeriod + kMost];
  for (int i = 0; all[1] == 0 && i < kPeriod + kMost; ++i) all[i] = (unsigned char)(i % kPeriod);
  return all + seed % kPeriod;
}
static void put(unsigned char* buffer, int bytes, int seed) { memcpy(buffer, content(seed), (size_t)bytes); }
static void verify(const unsigned char* buffer, int bytes, int seed) {
  if (memcmp(buffer, content(seed), (size_t)bytes) != 0) fail("wrong bytes in message", seed);
}
static unsigned char* alloc(int bytes) {
  unsigned char* memory = NULL;
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
  return memory;
}

/* One message from rank 0 to rank 1. */
static void message(unsigned char* buffer, int bytes, int seed) {
  if (rank == 0) {
    put(buffer, bytes, seed);
    MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    verify(buffer, bytes, seed);
  }
}

/* The same piece again and again, messages of all lengths out of all places of it. */
static void again(void) {
  unsigned char* const memory = alloc(kBytes);
  for (int i = 0; i < kMessages; ++i) {
    const int from = i * 977 % 100000;
    message(memory + from, kBytes - from - i * 331 % 100000, i);
  }
  MPI_Free_mem(memory);
}

/* Both send at once out of one piece and into another. */
static void both(void) {
  unsigned char *const out = alloc(kBytes), *const in = alloc(kBytes);
  for (int i = 0; i < kMessages; ++i) {
    put(out, kBytes, i + rank);
    MPI_Sendrecv(out, kBytes, MPI_BYTE, 1 - rank, 0, in, kBytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    verify(in, kBytes, i + 1 - rank);
  }
  MPI_Free_mem(out);
  MPI_Free_mem(in);
}

/* Freed while the other still has it mapped, and made anew; thousands of times. Nothing must grow. */
static void freed(void) {
  int before = 0;
  for (int i = 0; i < 2000; ++i) {
    unsigned char* const memory = alloc(kBytes + i % 3 * 4096);
    const int messages = i % 50 == 0 ? 4 : i % 5 == 0 ? 1 : 0;
    for (int m = 0; m < messages; ++m) message(memory, kBytes, i + m);
    MPI_Free_mem(memory);
    if (i == 100) before = descriptors();
  }
  /* The socket for datagrams is opened when others' memory is asked for, which a sender may do late. */
  if (descriptors() > before + 1) fail("descriptors are more than before", descriptors() - before);
  if (maps() > 64) fail("maps are not bounded", maps());
}

/* More pieces at once than there may be objects. */
static void many(void) {
  enum { kPieces = 400 };
  static unsigned char* all[kPieces];
  for (int i = 0; i < kPieces; ++i) all[i] = alloc(70000);
  const unsigned long long shared = variable("alloc_mem_shared", MPI_T_PVAR_CLASS_LEVEL);
  if (shared > 256 || shared == kPieces) fail("more objects than there may be", (long)shared);
  for (int i = 0; i < kPieces; ++i) message(all[i], 70000, i);
  if (maps() > 64 + (int)shared) fail("maps are not bounded", maps());
  for (int i = 0; i < kPieces; ++i) MPI_Free_mem(all[i]);
  if (rank == 0) printf("objects %llu\n", shared);
}

/* Rank 0 has a child that lives on, and another that runs a program. */
static void forked(void) {
  unsigned char* const memory = alloc(kBytes);
  message(memory, kBytes, 1);
  const pid_t sleeper = rank == 0 ? fork() : 1;
  if (sleeper == 0)
    for (;;) pause();
  const pid_t program = rank == 0 ? fork() : 1;
  if (program == 0) {
    execlp("true", "true", (char*)NULL);
    _exit(1);
  }
  for (int i = 2; i < 40; ++i) message(memory, kBytes, i);
  MPI_Free_mem(memory);
  if (rank == 0) {
    int status = -1;
    if (waitpid(program, &status, 0) != program || status != 0) fail("the program failed", status);
    kill(sleeper, SIGKILL);
    waitpid(sleeper, NULL, 0);
  }
}

/* Rank 0 dies; rank 1, which has mapped its memory, goes on and keeps nothing of it. */
static void killed(void) {
  unsigned char* const memory = alloc(kBytes);
  char token = 0;
  int code = MPI_SUCCESS;
  message(memory, kBytes, 0);
  const int before = descriptors();
  for (int i = 1; i < 10; ++i) message(memory, kBytes, i);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) raise(SIGKILL);
  /* What it had mapped goes with the error. */
  code = MPI_Recv(&token, 1, MPI_CHAR, 0, kEnd, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) fail("a message came from the dead", 0);
  if (maps() != 1) fail("maps of the dead are kept", maps());
  if (descriptors() > before) fail("descriptors are more than before", descriptors() - before);
  MPI_Free_mem(memory);
  if (maps() != 0) fail("freed memory is kept", maps());
}

/* A size that costs as much as a small one, and sizes that nobody has. */
static void sizes(void) {
  void* memory = NULL;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int code = MPI_Alloc_mem((MPI_Aint)8 << 30, MPI_INFO_NULL, &memory);
  if (code == MPI_SUCCESS) {
    MPI_Free_mem(memory);
  } else {
    int class = 0;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class != MPI_ERR_NO_MEM) fail("another class than MPI_ERR_NO_MEM", class);
    if (rank == 0) printf("refused: %s\n", text);
  }
  again();
}

/* Without a descriptor to be had, memory is ordinary. */
static void poor(void) {
  struct rlimit before, none;
  const int next = dup(0);
  getrlimit(RLIMIT_NOFILE, &before);
  close(next);
  none = before;
  none.rlim_cur = (rlim_t)next;
  if (next < 0 || setrlimit(RLIMIT_NOFILE, &none) != 0) fail("setrlimit", next);
  unsigned char* const memory = alloc(kBytes);
  setrlimit(RLIMIT_NOFILE, &before); /* sanitizers need descriptors to look at memory */
  const unsigned long long shared = variable("alloc_mem_shared", MPI_T_PVAR_CLASS_LEVEL);
  if (shared != 0) fail("memory is shared", (long)shared);
  for (int i = 0; i < 20; ++i) message(memory, kBytes, i);
  MPI_Free_mem(memory);
}

/* Whether rank 1 has mapped less than `wanted` and there is time: rank 0's thread has to be run first, which
 * a loaded machine may put off for longer than all messages take. */
static int more(int wanted, double end) {
  int go_on = rank == 1 && MPI_Wtime() < end &&
              variable("btl_mapped_gets", MPI_T_PVAR_CLASS_COUNTER) < (unsigned long long)wanted;
  MPI_Bcast(&go_on, 1, MPI_INT, 1, MPI_COMM_WORLD);
  return go_on;
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "again";
  static const struct {
    const char* name;
    void (*run)(void);
  } ways[] = {{"again", again},   {"both", both},   {"freed", freed}, {"many", many},   {"forked", forked},
              {"killed", killed}, {"sizes", sizes}, {"poor", poor},   {"hidden", again}};
  int level;
  /* No other process of this user may look into it. */
  if (strcmp(way, "hidden") == 0) prctl(PR_SET_DUMPABLE, 0);
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double end = MPI_Wtime() + 30;
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i)
    if (strcmp(way, ways[i].name) == 0) {
      do ways[i].run();
      while (argc > 2 && more(atoi(argv[2]), end));
    }
  if (rank == 1) {
    printf("mapped %llu\n", variable("btl_mapped_gets", MPI_T_PVAR_CLASS_COUNTER));
    fflush(stdout);
  }
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
