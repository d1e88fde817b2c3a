/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 7.4.4: all hints that the library knows are told, with their defaults; those it does not
 * know, and values that are none, are ignored. Section 11.4.3: kinds of memory. */
#include "check.h"

#if MPI_VERSION >= 5
#define KNOWN "mpi_assert_no_any_source"

/* The value of a hint; "-" if there is none. */
static const char* value_of(MPI_Comm comm, const char* key) {
  static char text[64];
  int flag = 0, room = sizeof text;
  MPI_Info info;
  OK(MPI_Comm_get_info(comm, &info));
  OK(MPI_Info_get_string(info, key, &room, text, &flag));
  OK(MPI_Info_free(&info));
  return flag ? text : "-";
}

static void told(MPI_Comm comm, const char* key, const char* wanted) {
  CHECK(strcmp(value_of(comm, key), wanted) == 0);
}

static MPI_Info hints(void) {
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "nobody knows this", "true"));
  OK(MPI_Info_set(info, KNOWN, "true"));
  OK(MPI_Info_set(info, "mpi_assert_exact_length", "perhaps"));
  OK(MPI_Info_set(info, "mpi_memory_alloc_kinds", "cuda"));
  return info;
}

static void defaults(MPI_Comm comm) {
  told(comm, KNOWN, "false");
  told(comm, "mpi_assert_no_any_tag", "false");
  told(comm, "mpi_assert_exact_length", "false");
  told(comm, "mpi_assert_allow_overtaking", "false");
  told(comm, "mpi_assert_strict_persistent_collective_ordering", "false");
  told(comm, "nobody knows this", "-");
  told(comm, "mpi_memory_alloc_kinds", "mpi,system");
}

static void given(MPI_Comm comm) {
  told(comm, KNOWN, "true");
  told(comm, "mpi_assert_exact_length", "false");
  told(comm, "nobody knows this", "-");
  told(comm, "mpi_memory_alloc_kinds", "mpi,system");
}

static void session(MPI_Info info) {
  char text[32] = "";
  int flag = 0, room = sizeof text;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Info used;
  OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
  OK(MPI_Session_get_info(session, &used));
  OK(MPI_Info_get_string(used, "mpi_memory_alloc_kinds", &room, text, &flag));
  CHECK(flag && strcmp(text, "mpi,system") == 0);
  OK(MPI_Info_free(&used));
  OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  OK(MPI_Comm_create_from_group(group, "hints", info, MPI_ERRORS_RETURN, &comm));
  given(comm);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Group_free(&group));
  OK(MPI_Session_finalize(&session));
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
#if MPI_VERSION >= 5
  MPI_Comm with, without;
  MPI_Info info = hints();
  defaults(MPI_COMM_WORLD);
  OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with));
  given(with);
  OK(MPI_Comm_dup(with, &without));
  defaults(without);
  OK(MPI_Comm_set_info(without, info));
  given(without);
  OK(MPI_Info_set(info, KNOWN, "neither"));
  OK(MPI_Comm_set_info(without, info)); /* what is ignored replaces nothing */
  given(without);
  OK(MPI_Info_set(info, KNOWN, "false"));
  OK(MPI_Comm_set_info(without, info));
  defaults(without);
  OK(MPI_Comm_free(&with));
  OK(MPI_Comm_free(&without));
  OK(MPI_Info_set(info, KNOWN, "true"));
  session(info);
  OK(MPI_Info_free(&info));
#endif
  return finish();
}
