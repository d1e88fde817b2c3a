/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of the tool information interface says that it is not initialised, before MPI_T_init_thread
 * and after MPI_T_finalize, also while MPI itself runs (MPI 5.0, 15.3.4). np: 1, needs: mpi-4.0 */
#include "check.h"

#define EACH_SAYS(call) CHECK_EQ(call, MPI_T_ERR_NOT_INITIALIZED)

static void variables(void) {
  int n = 0, m = 0, k = 0, kind = 0, scope = 0, flags[3] = {0};
  char name[80], text[80];
  MPI_Datatype type;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  MPI_T_cvar_handle control = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_pvar_handle performance = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  EACH_SAYS(MPI_T_cvar_get_num(&n));
  n = m = sizeof name;
  EACH_SAYS(MPI_T_cvar_get_info(0, name, &n, &k, &type, &values, text, &m, &kind, &scope));
  EACH_SAYS(MPI_T_cvar_get_index("btl", &n));
  EACH_SAYS(MPI_T_cvar_handle_alloc(0, NULL, &control, &n));
  EACH_SAYS(MPI_T_cvar_handle_free(&control));
  EACH_SAYS(MPI_T_cvar_read(control, text));
  EACH_SAYS(MPI_T_cvar_write(control, text));
  EACH_SAYS(MPI_T_pvar_get_num(&n));
  n = m = sizeof name;
  EACH_SAYS(MPI_T_pvar_get_info(0, name, &n, &k, &kind, &type, &values, text, &m, &scope, &flags[0],
                                &flags[1], &flags[2]));
  EACH_SAYS(MPI_T_pvar_get_index("wait_sleeps", MPI_T_PVAR_CLASS_COUNTER, &n));
  EACH_SAYS(MPI_T_pvar_session_create(&session));
  EACH_SAYS(MPI_T_pvar_handle_alloc(session, 0, NULL, &performance, &n));
  EACH_SAYS(MPI_T_pvar_start(session, performance));
  EACH_SAYS(MPI_T_pvar_stop(session, performance));
  EACH_SAYS(MPI_T_pvar_read(session, performance, text));
  EACH_SAYS(MPI_T_pvar_write(session, performance, text));
  EACH_SAYS(MPI_T_pvar_reset(session, performance));
  EACH_SAYS(MPI_T_pvar_readreset(session, performance, text));
  EACH_SAYS(MPI_T_pvar_handle_free(session, &performance));
  EACH_SAYS(MPI_T_pvar_session_free(&session));
  n = sizeof name;
  EACH_SAYS(MPI_T_enum_get_info(values, &k, name, &n));
  EACH_SAYS(MPI_T_enum_get_item(values, 0, &k, name, &n));
}

static void categories(void) {
  int n = 0, m = 0, all[5] = {0};
  char name[80], text[80];
  EACH_SAYS(MPI_T_category_get_num(&n));
  n = m = sizeof name;
  EACH_SAYS(MPI_T_category_get_info(0, name, &n, text, &m, &all[0], &all[1], &all[2]));
  EACH_SAYS(MPI_T_category_get_index("any", &n));
  EACH_SAYS(MPI_T_category_get_num_events(0, &n));
  EACH_SAYS(MPI_T_category_get_cvars(0, 5, all));
  EACH_SAYS(MPI_T_category_get_pvars(0, 5, all));
  EACH_SAYS(MPI_T_category_get_events(0, 5, all));
  EACH_SAYS(MPI_T_category_get_categories(0, 5, all));
  EACH_SAYS(MPI_T_category_changed(&n));
}

static void events(void) {
  int n = 0;
  MPI_Count ticks = 0;
  EACH_SAYS(MPI_T_event_get_num(&n));
  EACH_SAYS(MPI_T_event_get_index("any", &n));
  EACH_SAYS(MPI_T_source_get_num(&n));
  EACH_SAYS(MPI_T_source_get_timestamp(0, &ticks));
}

static void all_of_them(void) {
  variables();
  categories();
  events();
  EACH_SAYS(MPI_T_finalize());
}

int main(int argc, char** argv) {
  int level = -1, count = -1;
  all_of_them();
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  OK(MPI_T_cvar_get_num(&count));
  OK(MPI_T_finalize());
  all_of_them();
  OK(MPI_Init(&argc, &argv));
  all_of_them();
  return finish();
}
