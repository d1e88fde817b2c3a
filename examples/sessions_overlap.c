/* SPDX-License-Identifier: BSD-3-Clause */
/* Two communicators over overlapping sets of processes are created at the same time; the other processes
 * never enter MPI.
 *
 * With n processes: A = [0, n/2), B = [n/4, 3n/4), the last quarter makes no MPI call at all. A process in
 * both sets creates both communicators at once, in two threads: with one after the other, in a different
 * order on two processes, each would wait for the other (MPI-4, 7.4.2: the string tag keeps concurrent
 * creations apart).
 *
 * Which process this is has to be known before MPI: mpiexec says so in PMI_RANK and PMI_SIZE. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct set {
  MPI_Session session;
  const char* tag;
  int first, last; /* ranks in mpi://WORLD, both included */
  int wrong;
};

static void* create_and_check(void* argument) {
  struct set* set = argument;
  MPI_Group world, members;
  MPI_Comm comm;
  int range[1][3] = {{set->first, set->last, 1}};
  MPI_Group_from_session_pset(set->session, "mpi://WORLD", &world);
  MPI_Group_range_incl(world, 1, range, &members);
  MPI_Comm_create_from_group(members, set->tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);

  int rank, size, sum = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int mine = set->first + rank;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  const int expected = (set->first + set->last) * size / 2;
  set->wrong = size != set->last - set->first + 1 || sum != expected;
  if (set->wrong) fprintf(stderr, "%s: sum %d over %d members, expected %d\n", set->tag, sum, size, expected);
  if (rank == 0) printf("%s: members %d to %d have met\n", set->tag, set->first, set->last);

  MPI_Comm_free(&comm);
  MPI_Group_free(&members);
  MPI_Group_free(&world);
  return NULL;
}

static int number(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text ? atoi(text) : otherwise;
}

int main(void) {
  const int me = number("PMI_RANK", number("OMPI_COMM_WORLD_RANK", 0));
  const int n = number("PMI_SIZE", number("OMPI_COMM_WORLD_SIZE", 1));
  struct set a = {.tag = "org.example.A", .first = 0, .last = n >= 4 ? n / 2 - 1 : n - 1};
  struct set b = {.tag = "org.example.B", .first = n >= 4 ? n / 4 : 0, .last = n >= 4 ? 3 * n / 4 - 1 : 0};
  const int in_a = me >= a.first && me <= a.last, in_b = me >= b.first && me <= b.last;
  if (!in_a && !in_b) return 0; /* never enters MPI */

  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session session;
  MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Info_free(&info);
  a.session = b.session = session;

  if (in_a && in_b) {
    pthread_t thread;
    pthread_create(&thread, NULL, create_and_check, &b);
    create_and_check(&a);
    pthread_join(thread, NULL);
  } else {
    create_and_check(in_a ? &a : &b);
  }
  MPI_Session_finalize(&session);
  return a.wrong || b.wrong;
}
