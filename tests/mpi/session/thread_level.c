/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 11.3.1: a session tells the thread level that it really has, which is at least what was
 * asked for; beside a world with MPI_THREAD_MULTIPLE it has that, too.
 * needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
static int level_of(MPI_Session session) {
  static const struct {
    const char* name;
    int level;
  } levels[] = {{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
                {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};
  MPI_Info info;
  char name[64] = "";
  int room = sizeof name, flag = 0;
  OK(MPI_Session_get_info(session, &info));
  OK(MPI_Info_get_string(info, "thread_level", &room, name, &flag));
  CHECK(flag);
  OK(MPI_Info_free(&info));
  for (int i = 0; i < 4; ++i)
    if (strcmp(levels[i].name, name) == 0) return levels[i].level;
  check_fail(__FILE__, __LINE__, "thread_level is no level");
  return -1;
}

/* Asks for this level, or for none. */
static int given(const char* wanted) {
  MPI_Session session;
  MPI_Info info = MPI_INFO_NULL;
  int level;
  if (wanted != NULL) {
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", wanted));
  }
  OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
  if (wanted != NULL) OK(MPI_Info_free(&info));
  level = level_of(session);
  OK(MPI_Session_finalize(&session));
  return level;
}

int main(int argc, char** argv) {
  int provided;
  CHECK(given(NULL) > MPI_THREAD_SINGLE); /* which section 11.3.1 discourages as the default */
  CHECK(given("MPI_THREAD_SERIALIZED") >= MPI_THREAD_SERIALIZED);
  OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  if (provided == MPI_THREAD_MULTIPLE) {
    CHECK_EQ(given(NULL), MPI_THREAD_MULTIPLE);
    CHECK_EQ(given("MPI_THREAD_MULTIPLE"), MPI_THREAD_MULTIPLE);
    CHECK(given("MPI_THREAD_FUNNELED") >= MPI_THREAD_FUNNELED);
  }
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
