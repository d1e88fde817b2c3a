/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_set_info, MPI_Comm_disconnect after pending messages, groups without some ranks, the environment
 * as an info object (MPI 5.0, 7.3.2, 7.4.4, 10.2, 11.10.4). */
#include "check.h"

static void hints(void) {
  MPI_Comm comm;
  MPI_Info info, got;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
  OK(MPI_Comm_set_info(comm, info));
  OK(MPI_Info_free(&info));
  OK(MPI_Comm_get_info(comm, &got));
  CHECK(got != MPI_INFO_NULL);
#if MPI_VERSION >= 5 /* the others may ignore it */
  char value[8] = "";
  int flag, room = sizeof value;
  OK(MPI_Info_get_string(got, "mpi_assert_exact_length", &room, value, &flag));
  CHECK(flag && strcmp(value, "true") == 0);
#endif
  OK(MPI_Info_free(&got));
  OK(MPI_Comm_free(&comm));
}

static void disconnect(int me, int size) {
  MPI_Comm comm;
  MPI_Request request;
  int got = -1;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Irecv(&got, 1, MPI_INT, (me + 1) % size, 0, comm, &request));
  OK(MPI_Send(&me, 1, MPI_INT, (me + size - 1) % size, 0, comm));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Comm_disconnect(&comm));
  CHECK(comm == MPI_COMM_NULL);
  CHECK_EQ(got, (me + 1) % size);
}

static void without(int me, int size) {
  MPI_Group world, rest;
  int last = size - 1, number, rank;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  OK(MPI_Group_excl(world, 1, &last, &rest));
  OK(MPI_Group_size(rest, &number));
  CHECK_EQ(number, size - 1);
  OK(MPI_Group_rank(rest, &rank));
  CHECK_EQ(rank, me == last ? MPI_UNDEFINED : me);
  if (rest != MPI_GROUP_EMPTY) OK(MPI_Group_free(&rest));
  OK(MPI_Group_excl(world, 0, NULL, &rest));
  OK(MPI_Group_compare(world, rest, &number));
  CHECK_EQ(number, MPI_IDENT);
  OK(MPI_Group_free(&rest));
  OK(MPI_Group_free(&world));
}

int main(int argc, char** argv) {
#if MPI_VERSION >= 4
  MPI_Info environment;
  char command[1024] = "";
  int flag, room = sizeof command;
  OK(MPI_Info_create_env(argc, argv, &environment));
  OK(MPI_Info_get_string(environment, "command", &room, command, &flag));
  if (flag) CHECK(strcmp(command, argv[0]) == 0);
  OK(MPI_Info_free(&environment));
#endif
  MPI_Init(&argc, &argv);
  hints();
  disconnect(world_rank(), world_size());
  without(world_rank(), world_size());
  return finish();
}
