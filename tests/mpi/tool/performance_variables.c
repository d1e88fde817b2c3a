/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 15.3.7: performance variables have a class with a type that it allows; they are found by
 * name and class; a handle belongs to its session. np: 1-4 */
#include "check.h"

static int allowed(int class, MPI_Datatype type) {
  const int number = type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG;
  switch (class) {
    case MPI_T_PVAR_CLASS_STATE: return type == MPI_INT;
    case MPI_T_PVAR_CLASS_COUNTER: return number;
    case MPI_T_PVAR_CLASS_PERCENTAGE: return type == MPI_DOUBLE;
    case MPI_T_PVAR_CLASS_GENERIC: return 1;
    default: return number || type == MPI_DOUBLE;
  }
}

static void check_variable(int index) {
  char name[256], text[1024];
  int name_length = sizeof name, length = sizeof text, verbosity, class, bind, fixed, continuous, atomic;
  int found = -1;
  MPI_Datatype type;
  MPI_T_enum values;
  OK(MPI_T_pvar_get_info(index, name, &name_length, &verbosity, &class, &type, &values, text, &length, &bind,
                         &fixed, &continuous, &atomic));
  CHECK_EQ(name_length, (int)strlen(name) + 1);
  CHECK(allowed(class, type));
  CHECK(fixed == 0 || atomic == 0); /* what cannot be reset cannot be read and reset */
  OK(MPI_T_pvar_get_index(name, class, &found));
  CHECK_EQ(found, index);
  const int other = class == MPI_T_PVAR_CLASS_GENERIC ? MPI_T_PVAR_CLASS_STATE : MPI_T_PVAR_CLASS_GENERIC;
  CHECK_EQ(MPI_T_pvar_get_index(name, other, &found), MPI_T_ERR_INVALID_NAME);
}

/* A handle for a variable that is bound to no object; reads it as its own session may, and no other. */
static void check_handle(int index) {
  MPI_T_pvar_session mine, theirs;
  MPI_T_pvar_handle handle;
  int class, bind, fixed, continuous, atomic, count = -1;
  MPI_Datatype type;
  OK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, &class, &type, NULL, NULL, NULL, &bind, &fixed, &continuous,
                         &atomic));
  if (bind != MPI_T_BIND_NO_OBJECT) return;
  OK(MPI_T_pvar_session_create(&mine));
  OK(MPI_T_pvar_session_create(&theirs));
  OK(MPI_T_pvar_handle_alloc(mine, index, NULL, &handle, &count));
  CHECK(count >= 1);
  char* const values = malloc((size_t)count * sizeof(double));
  if (continuous) {
    CHECK_EQ(MPI_T_pvar_start(mine, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQ(MPI_T_pvar_stop(mine, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
  }
  OK(MPI_T_pvar_start(mine, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_read(mine, handle, values));
  if (fixed) {
    CHECK_EQ(MPI_T_pvar_write(mine, handle, values), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_EQ(MPI_T_pvar_reset(mine, handle), MPI_T_ERR_PVAR_NO_WRITE);
  }
  OK(MPI_T_pvar_reset(mine, MPI_T_PVAR_ALL_HANDLES));
  CHECK_EQ(MPI_T_pvar_read(theirs, handle, values), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_handle_free(theirs, &handle), MPI_T_ERR_INVALID_HANDLE);
  OK(MPI_T_pvar_handle_free(mine, &handle));
  CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
  OK(MPI_T_pvar_session_free(&mine));
  OK(MPI_T_pvar_session_free(&theirs));
  free(values);
}

static void check_all(void) {
  int count = -1;
  OK(MPI_T_pvar_get_num(&count));
  for (int i = 0; i < count; ++i) {
    check_variable(i);
    check_handle(i);
  }
}

int main(int argc, char** argv) {
  int level;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  OK(MPI_Init(&argc, &argv));
  check_all();
  OK(MPI_Finalize());
  OK(MPI_T_finalize());
  return 0;
}
