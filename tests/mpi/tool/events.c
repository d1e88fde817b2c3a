/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 15.3.8: event types and their sources, however many there are, describe themselves and can
 * be registered for; an index or handle that does not exist is refused. np: 1; needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4

static void check_source(int source) {
  char name[512];
  int length = sizeof name;
  MPI_T_source_order order;
  MPI_Count ticks, most, first, second;
  MPI_Info info;
  OK(MPI_T_source_get_info(source, name, &length, NULL, NULL, &order, &ticks, &most, &info));
  CHECK_EQ(length, (int)strlen(name) + 1);
  CHECK(order == MPI_T_SOURCE_ORDERED || order == MPI_T_SOURCE_UNORDERED);
  CHECK(ticks > 0 && most > 0);
  OK(MPI_T_source_get_timestamp(source, &first));
  OK(MPI_T_source_get_timestamp(source, &second));
  CHECK(first >= 0 && second <= most);
}

static void check_event(int event) {
  char name[512];
  int length = sizeof name, elements = 0, found = -1, bind;
  MPI_T_event_registration registration;
  MPI_Info info;
  OK(MPI_T_event_get_info(event, name, &length, NULL, NULL, NULL, &elements, NULL, NULL, NULL, NULL, &bind));
  CHECK_EQ(length, (int)strlen(name) + 1);
  CHECK(elements >= 0);
  OK(MPI_T_event_get_index(name, &found));
  CHECK_EQ(found, event);
  if (bind != MPI_T_BIND_NO_OBJECT) return;
  OK(MPI_T_event_handle_alloc(event, NULL, MPI_INFO_NULL, &registration));
  OK(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL));
  OK(MPI_T_event_handle_get_info(registration, &info));
  OK(MPI_Info_free(&info));
  OK(MPI_T_event_handle_free(registration, NULL, NULL));
}

static void unknown_indices(int events, int sources) {
  int index = -1;
  MPI_Count time;
  MPI_T_event_registration registration;
  CHECK_EQ(MPI_T_event_get_info(events, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_handle_alloc(events, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_get_index("no event is called this", &index), MPI_T_ERR_INVALID_NAME);
  CHECK_EQ(MPI_T_source_get_info(sources, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_source_get_timestamp(sources, &time), MPI_T_ERR_INVALID_INDEX);
}

static void no_handles(void) {
  const MPI_T_event_registration registration = 0;
  const MPI_T_event_instance instance = 0;
  const MPI_T_cb_safety none = MPI_T_CB_REQUIRE_NONE;
  char value[8];
  int source;
  MPI_Count time;
  MPI_Info info;
  CHECK_EQ(MPI_T_event_handle_free(registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_handle_get_info(registration, &info), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_register_callback(registration, none, MPI_INFO_NULL, NULL, NULL),
           MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_callback_get_info(registration, none, &info), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_callback_set_info(registration, none, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_set_dropped_handler(registration, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_read(instance, 0, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_copy(instance, value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_get_source(instance, &source), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char** argv) {
  int level, events = -1, sources = -1;
  CHECK_EQ(MPI_T_event_get_num(&events), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_source_get_num(&sources), MPI_T_ERR_NOT_INITIALIZED);
  MPI_Init(&argc, &argv);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  OK(MPI_T_event_get_num(&events));
  OK(MPI_T_source_get_num(&sources));
  CHECK(events >= 0 && sources >= 0);
  CHECK(events == 0 || sources > 0); /* an event comes from a source */
  for (int i = 0; i < sources; ++i) check_source(i);
  for (int i = 0; i < events; ++i) check_event(i);
  unknown_indices(events, sources);
  no_handles();
  OK(MPI_T_finalize());
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
