/* SPDX-License-Identifier: BSD-3-Clause */
/* Members that do not fit together.    usage: meet tags|groups|orders|alone|many, or meet init NAME=VALUE
 *   tags     the last rank gives another tag, groups: another group, orders: the same group in another order
 *   init     MPI_Init and MPI_Finalize, after the last rank has set the variable NAME
 *   alone    the last rank makes an error on a session with MPI_ERRORS_ABORT; the others make a communicator
 *   many     a communicator for each of 4,000 tags; prints by how many bytes the heap has grown */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Session session;
static MPI_Group world;
static int me, size;

static int create(MPI_Group group, const char* tag) {
  char text[MPI_MAX_ERROR_STRING];
  int length, rank = -1, error;
  MPI_Comm comm;
  error = MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  if (error == MPI_SUCCESS) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_free(&comm);
    return 0;
  }
  MPI_Error_string(error, text, &length);
  printf("rank %d: %s\n", me, text);
  return 1;
}

static int orders(void) {
  int ranks[64], i, bad;
  MPI_Group turned;
  for (i = 0; i < size; ++i) ranks[i] = size - 1 - i;
  MPI_Group_incl(world, size, ranks, &turned);
  bad = create(me == size - 1 ? turned : world, "orders");
  bad += 2 * create(turned, "again"); /* all alike: that is fine */
  MPI_Group_free(&turned);
  return bad;
}

static int groups(void) {
  const int last = size - 1;
  int bad;
  MPI_Group fewer;
  MPI_Group_excl(world, 1, &last, &fewer);
  bad = create(me == 0 ? fewer : world, "groups");
  MPI_Group_free(&fewer);
  return bad;
}

static int alone(void) {
  const int last = size - 1;
  MPI_Session other;
  MPI_Group fewer;
  int length = 0, bad;
  if (me == last) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &other);
    MPI_Session_get_nth_pset(other, MPI_INFO_NULL, 4711, &length, NULL);
    return 7; /* not reached */
  }
  MPI_Group_excl(world, 1, &last, &fewer);
  bad = create(fewer, "the others");
  MPI_Group_free(&fewer);
  return bad;
}

static long long heap(void) { return (long long)mallinfo2().uordblks; }

static int many(void) {
  enum { ROUNDS = 4000 };
  char tag[32];
  long long before = 0;
  int round, bad = 0;
  for (round = 0; round < ROUNDS; ++round) {
    if (round == ROUNDS / 4) before = heap();
    snprintf(tag, sizeof tag, "tag number %d", round);
    bad += create(world, tag);
  }
  printf("rank %d: %lld bytes\n", me, heap() - before);
  return bad;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "tags";
  int bad = 0;
  if (strcmp(what, "init") == 0) {
    const char* rank = getenv("PMI_RANK");
    const char* ranks = getenv("PMI_SIZE");
    char* value = argc > 2 ? strchr(argv[2], '=') : NULL;
    if (rank != NULL && ranks != NULL && value != NULL && atoi(rank) == atoi(ranks) - 1) {
      *value = '\0';
      setenv(argv[2], value + 1, 1);
    }
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    printf("fine\n");
    return 0;
  }
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_rank(world, &me);
  MPI_Group_size(world, &size);
  if (strcmp(what, "tags") == 0) bad = create(world, me == size - 1 ? "one" : "other");
  if (strcmp(what, "groups") == 0) bad = groups();
  if (strcmp(what, "orders") == 0) bad = orders();
  if (strcmp(what, "alone") == 0) bad = alone();
  if (strcmp(what, "many") == 0) bad = many();
  MPI_Group_free(&world);
  MPI_Session_finalize(&session);
  printf("rank %d: %d\n", me, bad);
  return 0;
}
