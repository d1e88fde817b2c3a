/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 15.3.3 to 15.3.6: every control variable can be described, found by its name and read,
 * also before MPI is initialised. */
#include "check.h"

/* One variable as MPI_T_cvar_get_info describes it. */
struct Variable {
  char name[512];
  int name_length, description_length, verbosity, bind, scope;
  MPI_Datatype type;
  MPI_T_enum choices;
};

static struct Variable describe(int index) {
  struct Variable v = {.name_length = sizeof v.name};
  OK(MPI_T_cvar_get_info(index, v.name, &v.name_length, &v.verbosity, &v.type, &v.choices, NULL,
                         &v.description_length, &v.bind, &v.scope));
  return v;
}

/* The types that the tool interface has (15.3.5); MPI_Type_size needs an initialised MPI. */
static int size_of(MPI_Datatype type) {
  if (type == MPI_CHAR) return 1;
  if (type == MPI_INT || type == MPI_UNSIGNED) return sizeof(int);
  if (type == MPI_UNSIGNED_LONG) return sizeof(long);
  if (type == MPI_UNSIGNED_LONG_LONG) return sizeof(long long);
  if (type == MPI_COUNT) return sizeof(MPI_Count);
  CHECK(type == MPI_DOUBLE);
  return sizeof(double);
}

static void check_description(int index) {
  const struct Variable v = describe(index);
  char description[4096], start[2];
  int length = sizeof description, room = sizeof start, found = -1;
  CHECK_EQ(v.name_length, (int)strlen(v.name) + 1); /* lengths include the final NUL */
  CHECK(v.name_length > 1);
  CHECK(size_of(v.type) > 0);
  CHECK(v.choices == MPI_T_ENUM_NULL || v.type == MPI_INT);
  OK(MPI_T_cvar_get_index(v.name, &found));
  CHECK_EQ(found, index); /* names are unique */
  OK(MPI_T_cvar_get_info(index, start, &room, NULL, NULL, NULL, description, &length, NULL, NULL));
  CHECK(start[0] == v.name[0] && start[1] == '\0'); /* cut off, and still a string */
  CHECK_EQ(room, v.name_length);
  CHECK_EQ(length, v.description_length);
  CHECK(length > (int)sizeof description || length == (int)strlen(description) + 1);
}

static void check_value(int index) {
  const struct Variable v = describe(index);
  static char first[1 << 16], again[1 << 16];
  const int size = size_of(v.type);
  int count = -1;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (v.bind != MPI_T_BIND_NO_OBJECT) return;
  OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
  CHECK(handle != MPI_T_CVAR_HANDLE_NULL);
  CHECK(count >= 1 && count * size < (int)sizeof first);
  memset(first, 0x55, sizeof first);
  memset(again, 0x55, sizeof again);
  OK(MPI_T_cvar_read(handle, first));
  OK(MPI_T_cvar_read(handle, again));
  CHECK(memcmp(first, again, sizeof first) == 0);
  for (size_t at = (size_t)count * size; at < sizeof first; ++at) CHECK_EQ(first[at], 0x55);
  if (v.type == MPI_CHAR) CHECK(memchr(first, '\0', count) != NULL);
  if (v.scope == MPI_T_SCOPE_CONSTANT || v.scope == MPI_T_SCOPE_READONLY) {
    CHECK_EQ(MPI_T_cvar_write(handle, first), MPI_T_ERR_CVAR_SET_NEVER);
  }
  OK(MPI_T_cvar_handle_free(&handle));
  CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
}

static int check_all(void) {
  int count = -1;
  OK(MPI_T_cvar_get_num(&count));
  CHECK(count >= 0);
  for (int index = 0; index < count; ++index) {
    check_description(index);
    check_value(index);
  }
  return count;
}

static void errors(int count) {
  int index = -1, number;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  CHECK_EQ(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_cvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_cvar_handle_alloc(count, NULL, &handle, &number), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_cvar_get_index("no variable is called this", &index), MPI_T_ERR_INVALID_NAME);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char** argv) {
  int level = -1, before, after, count;
  CHECK_EQ(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
  before = check_all();
  MPI_Init(&argc, &argv);
  after = check_all();
  CHECK(after >= before); /* variables may be added, none may go */
  errors(after);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  OK(MPI_T_finalize());
  OK(MPI_Finalize());
  CHECK(check_all() >= after); /* initialised once more than finalized */
  OK(MPI_T_finalize());
  CHECK_EQ(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  return 0;
}
