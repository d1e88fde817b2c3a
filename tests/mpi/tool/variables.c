/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface: control variables with their enumerations and categories; performance variables and
 * events, which an MPI may not have any of (MPI 5.0, 15.3). np: 1 needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
static void control(void) {
  int count, found;
  OK(MPI_T_cvar_get_num(&count));
  for (int i = 0; i < count; ++i) {
    char name[256], text[1024];
    int name_length = sizeof name, text_length = sizeof text, verbosity, bind, scope, elements;
    MPI_Datatype type;
    MPI_T_enum values;
    OK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &values, text, &text_length, &bind,
                           &scope));
    OK(MPI_T_cvar_get_index(name, &found));
    CHECK_EQ(found, i);
    if (values != MPI_T_ENUM_NULL) {
      int items, value, length = sizeof name;
      OK(MPI_T_enum_get_info(values, &items, name, &length));
      CHECK(items > 0);
      for (int k = 0; k < items; ++k) {
        length = sizeof name;
        OK(MPI_T_enum_get_item(values, k, &value, name, &length));
        CHECK(length > 0);
      }
    }
    if (bind != MPI_T_BIND_NO_OBJECT) continue;
    MPI_T_cvar_handle handle;
    OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &elements));
    int size;
    OK(MPI_Type_size(type, &size));
    char* const memory = calloc((size_t)elements + 1, (size_t)size);
    OK(MPI_T_cvar_read(handle, memory));
    if (scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY)
      CHECK(MPI_T_cvar_write(handle, memory) != MPI_SUCCESS);
    free(memory);
    OK(MPI_T_cvar_handle_free(&handle));
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
  }
  CHECK_EQ(MPI_T_cvar_get_index("no such variable", &found), MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_cvar_handle_alloc(count, NULL, NULL, NULL) != MPI_SUCCESS);
}

static void categories(void) {
  int count, before, after, found;
  OK(MPI_T_category_changed(&before));
  OK(MPI_T_category_get_num(&count));
  for (int i = 0; i < count; ++i) {
    char name[256], text[1024];
    int name_length = sizeof name, text_length = sizeof text, controls, performances, subs, events;
    OK(MPI_T_category_get_info(i, name, &name_length, text, &text_length, &controls, &performances, &subs));
    OK(MPI_T_category_get_index(name, &found));
    CHECK_EQ(found, i);
    OK(MPI_T_category_get_num_events(i, &events));
    const int most = 1 + controls + performances + subs + events;
    int* const indices = calloc((size_t)most, sizeof(int));
    OK(MPI_T_category_get_cvars(i, most, indices));
    OK(MPI_T_category_get_pvars(i, most, indices));
    OK(MPI_T_category_get_categories(i, most, indices));
    OK(MPI_T_category_get_events(i, most, indices));
    free(indices);
  }
  CHECK(MPI_T_category_get_index("no such category", &found) != MPI_SUCCESS);
  OK(MPI_T_category_changed(&after));
  CHECK_EQ(before, after);
}

int main(int argc, char** argv) {
  int provided;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided)); /* before MPI is initialised, and after its end */
  categories();
  MPI_Init(&argc, &argv);
  control();
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  OK(MPI_T_finalize());
  categories();
  MPI_Finalize();
  categories();
  OK(MPI_T_finalize());
  int count;
  CHECK_EQ(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
