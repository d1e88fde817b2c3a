/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 15.3.9: categories, however many there are, name members that exist; an index that does
 * not exist is refused. np: 1 */
#include "check.h"

static void check_members(int category, int (*list)(int, int, int*), int members, int limit) {
  int* indices = malloc(sizeof(int) * (size_t)(members + 1));
  indices[members] = -77;
  OK(list(category, members, indices));
  for (int i = 0; i < members; ++i) CHECK(indices[i] >= 0 && indices[i] < limit);
  CHECK_EQ(indices[members], -77);
  free(indices);
}

static void check_category(int category, int categories) {
  char name[512];
  int length = sizeof name, cvars, pvars, inner, found = -1, all_cvars, all_pvars;
  OK(MPI_T_category_get_info(category, name, &length, NULL, NULL, &cvars, &pvars, &inner));
  CHECK_EQ(length, (int)strlen(name) + 1);
  OK(MPI_T_category_get_index(name, &found));
  CHECK_EQ(found, category);
  OK(MPI_T_cvar_get_num(&all_cvars));
  OK(MPI_T_pvar_get_num(&all_pvars));
  check_members(category, MPI_T_category_get_cvars, cvars, all_cvars);
  check_members(category, MPI_T_category_get_pvars, pvars, all_pvars);
  check_members(category, MPI_T_category_get_categories, inner, categories);
#if MPI_VERSION >= 4
  int events = -1, all_events = 0;
  OK(MPI_T_category_get_num_events(category, &events));
  OK(MPI_T_event_get_num(&all_events));
  check_members(category, MPI_T_category_get_events, events, all_events);
#endif
}

static void errors(int categories) {
  int index = -1, one;
  CHECK_EQ(MPI_T_category_get_index("no category is called this", &index), MPI_T_ERR_INVALID_NAME);
  CHECK_EQ(MPI_T_category_get_info(categories, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_cvars(categories, 1, &one), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_pvars(categories, 1, &one), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_categories(categories, 1, &one), MPI_T_ERR_INVALID_INDEX);
#if MPI_VERSION >= 4
  CHECK_EQ(MPI_T_category_get_num_events(categories, &one), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_events(categories, 1, &one), MPI_T_ERR_INVALID_INDEX);
#endif
}

static void check_all(void) {
  int categories = -1;
  OK(MPI_T_category_get_num(&categories));
  CHECK(categories >= 0);
  for (int i = 0; i < categories; ++i) check_category(i, categories);
  errors(categories);
}

int main(int argc, char** argv) {
  int level, stamp = -1, again = -2;
  CHECK_EQ(MPI_T_category_get_num(&level), MPI_T_ERR_NOT_INITIALIZED);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  check_all();
  MPI_Init(&argc, &argv);
  check_all();
  OK(MPI_T_category_changed(&stamp));
  OK(MPI_T_category_changed(&again));
  CHECK_EQ(stamp, again); /* nothing changed in between */
  OK(MPI_Finalize());
  check_all();
  OK(MPI_T_finalize());
  return 0;
}
