/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface with names, indexes and handles that do not exist: each call says so
 * (MPI 5.0, 15.3.10, table 15.6). np: 1 needs: mpi-5 */
#include "check.h"

#if MPI_VERSION >= 5
enum { BAD = 100000000 };

static void performance(void) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  char text[8];
  int count, number, length = sizeof text;
  MPI_Datatype type;
  MPI_T_enum values;
  long long memory = 0;
  OK(MPI_T_pvar_get_num(&count));
  CHECK_EQ(MPI_T_pvar_get_info(BAD, text, &length, &number, &number, &type, &values, text, &length, &number,
                               &number, &number, &number),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &number),
           MPI_T_ERR_INVALID_NAME);
  OK(MPI_T_pvar_session_create(&session));
  CHECK_EQ(MPI_T_pvar_handle_alloc(session, BAD, NULL, &handle, &number), MPI_T_ERR_INVALID_INDEX);
  handle = MPI_T_PVAR_HANDLE_NULL;
  CHECK_EQ(MPI_T_pvar_read(session, handle, &memory), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_readreset(session, handle, &memory), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_write(session, handle, &memory), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_start(session, handle), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_stop(session, handle), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_reset(session, handle), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_handle_free(session, &handle), MPI_T_ERR_INVALID_HANDLE);
  OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_session_free(&session));
  CHECK(session == MPI_T_PVAR_SESSION_NULL);
  CHECK_EQ(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
}

static void events(void) {
  const MPI_T_event_instance instance = (MPI_T_event_instance)0;
  const MPI_T_event_registration none = (MPI_T_event_registration)0;
  MPI_T_event_registration made;
  MPI_Info info;
  MPI_Count time;
  char text[8];
  int number, length = sizeof text, elements = 0;
  MPI_T_source_order order;
  OK(MPI_T_event_get_num(&number));
  OK(MPI_T_source_get_num(&number));
  CHECK_EQ(MPI_T_event_get_index("no such event", &number), MPI_T_ERR_INVALID_NAME);
  CHECK_EQ(MPI_T_event_get_info(BAD, text, &length, &number, NULL, NULL, &elements, NULL, &info, text,
                                &length, &number),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_handle_alloc(BAD, NULL, MPI_INFO_NULL, &made), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_handle_get_info(none, &info), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_handle_set_info(none, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_handle_free(none, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_register_callback(none, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL),
           MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_callback_get_info(none, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_callback_set_info(none, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL),
           MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_set_dropped_handler(none, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_read(instance, 0, text), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_copy(instance, text), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_get_source(instance, &number), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_source_get_info(BAD, text, &length, text, &length, &order, &time, &time, &info),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_source_get_timestamp(BAD, &time), MPI_T_ERR_INVALID_INDEX);
}

int main(void) {
  int provided;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  performance();
  events();
  OK(MPI_T_finalize());
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
