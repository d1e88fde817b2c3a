/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions whose first communicators are of groups, no world before. argv[1]: what each rank does.
 * halves: an intercommunicator between the lower and the upper half.
 * parts N: N groups of neighbouring ranks at once, then everybody.
 * part N: the same, without everybody. world N: the same, then MPI_Init.
 * subset: all ranks but the last, which makes a communicator with rank 0 alone, afterwards.
 * again N: N sessions one after the other, each with a communicator of the rank alone, every hundredth
 * with one of all.
 * late N: everybody, the last rank after N seconds; then twice more.
 * asleep: a thread waits for a message of its own process while the main thread makes the first group.
 * self: a communicator of each rank alone, and nothing else. init: nothing at all. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Session session;
static int me, size;

static void check(int rc, const char* what) {
  if (rc == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING * 4];
  int length;
  MPI_Error_string(rc, text, &length);
  fprintf(stderr, "rank %d: %s: %s\n", me, what, text);
  exit(3);
}

static MPI_Group range(int first, int last) {
  MPI_Group world, group;
  int ranks[1][3] = {{first, last, 1}};
  check(MPI_Group_from_session_pset(session, "mpi://WORLD", &world), "MPI_Group_from_session_pset");
  check(MPI_Group_range_incl(world, 1, ranks, &group), "MPI_Group_range_incl");
  MPI_Group_free(&world);
  return group;
}

/* Sums the ranks of the job, which must be first..last. */
static void sum(MPI_Comm comm, int first, int last) {
  int got, want = 0;
  check(MPI_Allreduce(&me, &got, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  for (int rank = first; rank <= last; ++rank) want += rank;
  if (got != want) {
    fprintf(stderr, "rank %d: the sum is %d, expected %d\n", me, got, want);
    exit(4);
  }
  check(MPI_Comm_free(&comm), "MPI_Comm_free");
}

static void among(int first, int last, const char* tag) {
  MPI_Group group = range(first, last);
  MPI_Comm comm;
  check(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), tag);
  MPI_Group_free(&group);
  sum(comm, first, last);
}

static void halves(void) {
  const int half = size / 2, upper = me >= half;
  MPI_Group low = range(0, half - 1), high = range(half, size - 1);
  MPI_Comm comm;
  check(MPI_Intercomm_create_from_groups(upper ? high : low, 0, upper ? low : high, 0, "halves",
                                         MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
        "MPI_Intercomm_create_from_groups");
  MPI_Group_free(&low);
  MPI_Group_free(&high);
  sum(comm, upper ? 0 : half, upper ? half - 1 : size - 1); /* of the other side */
}

static void again(int times) {
  for (int i = 0; i < times; ++i) {
    among(me, me, "self");
    if (i % 100 == 0) among(0, size - 1, "all");
    check(MPI_Session_finalize(&session), "MPI_Session_finalize");
    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
  }
}

static MPI_Comm make_self(void) {
  MPI_Group group = range(me, me);
  MPI_Comm comm;
  check(MPI_Comm_create_from_group(group, "self", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), "self");
  MPI_Group_free(&group);
  return comm;
}

static void* receive(void* comm) {
  int got = -1;
  check(MPI_Recv(&got, 1, MPI_INT, 0, 1, *(MPI_Comm*)comm, MPI_STATUS_IGNORE), "MPI_Recv");
  if (got != me) {
    fprintf(stderr, "rank %d: received %d\n", me, got);
    exit(4);
  }
  return NULL;
}

static void asleep(void) {
  MPI_Info threads;
  pthread_t thread;
  check(MPI_Session_finalize(&session), "MPI_Session_finalize");
  MPI_Info_create(&threads);
  MPI_Info_set(threads, "thread_level", "MPI_THREAD_MULTIPLE");
  check(MPI_Session_init(threads, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
  MPI_Info_free(&threads);
  MPI_Comm self = make_self();
  pthread_create(&thread, NULL, &receive, &self);
  usleep(300000); /* until it sleeps */
  among(0, size - 1, "while a thread sleeps");
  check(MPI_Send(&me, 1, MPI_INT, 0, 1, self), "MPI_Send");
  pthread_join(thread, NULL);
  MPI_Comm_free(&self);
}

int main(int argc, char** argv) {
  MPI_Group world;
  check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "MPI_Session_init");
  check(MPI_Group_from_session_pset(session, "mpi://WORLD", &world), "MPI_Group_from_session_pset");
  MPI_Group_rank(world, &me);
  MPI_Group_size(world, &size);
  MPI_Group_free(&world);
  const char* const what = argc > 1 ? argv[1] : "init";
  if (strcmp(what, "halves") == 0) {
    halves();
  } else if (strcmp(what, "parts") == 0) {
    const int each = size / atoi(argv[2]), first = me / each * each;
    among(first, first + each - 1, "part");
    among(0, size - 1, "all");
  } else if (strcmp(what, "part") == 0 || strcmp(what, "world") == 0) {
    const int each = size / atoi(argv[2]), first = me / each * each;
    among(first, first + each - 1, "part");
    if (what[0] == 'w') {
      MPI_Init(&argc, &argv);
      MPI_Finalize();
    }
  } else if (strcmp(what, "subset") == 0) {
    if (me < size - 1) among(0, size - 2, "some");
  } else if (strcmp(what, "late") == 0) {
    if (me == size - 1) sleep((unsigned)atoi(argv[2]));
    for (int i = 0; i < 3; ++i) among(0, size - 1, "late");
  } else if (strcmp(what, "again") == 0) {
    again(atoi(argv[2]));
  } else if (strcmp(what, "asleep") == 0) {
    asleep();
  } else if (strcmp(what, "self") == 0) {
    among(me, me, "self");
  } else if (strcmp(what, "init") != 0) {
    fprintf(stderr, "what is %s?\n", what);
    return 2;
  }
  check(MPI_Session_finalize(&session), "MPI_Session_finalize");
  printf("done\n");
  return 0;
}
