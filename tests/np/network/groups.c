/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators from groups over several nodes.    usage: groups overlap|bridge|threads|missing|dead */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 5 };

static MPI_Session session;
static int me, size;

/* Makes a communicator of the ranks in the bit mask and adds up its members' ranks. 0: as it should be. */
static int meet(unsigned mask, const char* tag) {
  int ranks[32], count = 0, sum = 0, expected = 0, rank, error;
  MPI_Group world, group;
  MPI_Comm comm;
  if ((mask >> me & 1) == 0) return 0;
  for (rank = 0; rank < size; ++rank) {
    if (mask >> rank & 1) {
      ranks[count++] = rank;
      expected += rank + 1;
    }
  }
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_incl(world, count, ranks, &group);
  error = MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  if (error != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(error, text, &length);
    printf("rank %d: no communicator for mask %u: %s\n", me, mask, text);
    return 1;
  }
  rank = me + 1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  if (sum == expected) return 0;
  printf("rank %d: mask %u gave %d, expected %d\n", me, mask, sum, expected);
  return 1;
}

static int overlap(void) {
  /* A knows B and C before the three meet; B and C do not know each other. */
  return meet(1u << 0 | 1u << 1, "ab") + meet(1u << 0 | 1u << 2, "ac") + meet(7u, "abc") + meet(15u, "all") +
         meet(6u, "bc");
}

/* Two communicators of one node each, joined by their leaders: the others have needed no network before. */
static int bridge(void) {
  MPI_Group world, group;
  MPI_Comm node, leaders = MPI_COMM_NULL, inter;
  int ranks[32], half = size / 2, first = me < half ? 0 : half, i, got = -1, bad;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  for (i = 0; i < half; ++i) ranks[i] = first + i;
  MPI_Group_incl(world, half, ranks, &group);
  MPI_Comm_create_from_group(group, "node", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &node);
  MPI_Group_free(&group);
  if (me == first) {
    ranks[0] = 0;
    ranks[1] = half;
    MPI_Group_incl(world, 2, ranks, &group);
    MPI_Comm_create_from_group(group, "leaders", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &leaders);
    MPI_Group_free(&group);
  }
  MPI_Group_free(&world);
  MPI_Intercomm_create(node, 0, leaders, me < half ? 1 : 0, 5, &inter);
  for (i = 0, bad = 0; i < half; ++i) {
    int to = (me + i) % half;
    int from = (me - i % half + half) % half;
    MPI_Sendrecv(&me, 1, MPI_INT, to, i, &got, 1, MPI_INT, from, i, inter, MPI_STATUS_IGNORE);
    bad += got != (me < half ? half : 0) + from;
  }
  MPI_Comm_free(&inter);
  if (leaders != MPI_COMM_NULL) MPI_Comm_free(&leaders);
  MPI_Comm_free(&node);
  return bad;
}

static void* one_thread(void* number) {
  static const unsigned masks[THREADS] = {0x3, 0x7, 0xe, 0xf};
  const int mine = *(int*)number;
  int round, bad = 0;
  char tag[32];
  for (round = 0; round < ROUNDS; ++round) {
    snprintf(tag, sizeof tag, "thread %d", mine);
    bad += meet(masks[mine], tag);
    bad += meet(0xf, tag); /* all threads over the same members */
  }
  *(int*)number = bad;
  return NULL;
}

static int threads(void) {
  pthread_t started[THREADS];
  int numbers[THREADS], i, bad = 0;
  for (i = 0; i < THREADS; ++i) {
    numbers[i] = i;
    pthread_create(&started[i], NULL, one_thread, &numbers[i]);
  }
  for (i = 0; i < THREADS; ++i) {
    pthread_join(started[i], NULL);
    bad += numbers[i];
  }
  return bad;
}

/* The last rank dies while the others are waiting for it: they end at once, with an error that names it. That
 * they have come they say by files, since before MPI nothing else is shared. */
static int dead(void) {
  const char* folder = getenv("STARLING_MCA_trial_directory");
  struct timespec pause = {0, 100000000};
  char name[4096];
  int rank, round;
  FILE* file;
  if (me != size - 1) {
    snprintf(name, sizeof name, "%s/here.%d", folder, me);
    file = fopen(name, "w");
    if (file != NULL) fclose(file);
    return meet((1u << size) - 1, "dead");
  }
  for (rank = 0; rank < me; ++rank) {
    snprintf(name, sizeof name, "%s/here.%d", folder, rank);
    while ((file = fopen(name, "r")) == NULL) nanosleep(&pause, NULL);
    fclose(file);
  }
  for (round = 0; round < 15; ++round) nanosleep(&pause, NULL); /* they come from there to the exchange */
  raise(SIGKILL);
  return 1;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "overlap";
  int bad = 0;
  MPI_Group world;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_rank(world, &me);
  MPI_Group_size(world, &size);
  MPI_Group_free(&world);
  if (strcmp(what, "overlap") == 0) bad = overlap();
  if (strcmp(what, "threads") == 0) bad = threads();
  if (strcmp(what, "bridge") == 0) bad = bridge();
  /* Rank 2 does not come: the others end with an error that says so. */
  if (strcmp(what, "missing") == 0 && me != 2) bad = meet((1u << size) - 1, "missing");
  if (strcmp(what, "dead") == 0) bad = dead();
  MPI_Session_finalize(&session);
  printf("rank %d: %s\n", me, bad == 0 ? "fine" : "WRONG");
  return bad != 0;
}
