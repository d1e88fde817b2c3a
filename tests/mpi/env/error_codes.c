/* SPDX-License-Identifier: BSD-3-Clause */
/* Error classes, codes and strings, the library's and the user's own (MPI-4, 9.4, 9.5). */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char text[MPI_MAX_ERROR_STRING];
  int length = -1, error_class = -1, mine = -1, code = -1;
  OK(MPI_Error_string(MPI_SUCCESS, text, &length));
  CHECK(length > 0);
  static const int classes[] = {MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE,    MPI_ERR_TAG,
                                MPI_ERR_COMM,   MPI_ERR_RANK,  MPI_ERR_REQUEST, MPI_ERR_TRUNCATE,
                                MPI_ERR_ARG,    MPI_ERR_GROUP, MPI_ERR_OP,      MPI_ERR_OTHER,
                                MPI_ERR_INTERN, MPI_ERR_NO_MEM};
  for (unsigned i = 0; i < sizeof classes / sizeof *classes; ++i) {
    OK(MPI_Error_class(classes[i], &error_class));
    CHECK_EQ(error_class, classes[i]);
    OK(MPI_Error_string(classes[i], text, &length));
    CHECK(length > 0 && length < MPI_MAX_ERROR_STRING);
    CHECK_EQ(length, (int)strlen(text));
  }
  OK(MPI_Add_error_class(&mine));
  CHECK(mine > MPI_SUCCESS);
  OK(MPI_Add_error_code(mine, &code));
  OK(MPI_Error_class(code, &error_class));
  CHECK_EQ(error_class, mine);
  OK(MPI_Add_error_string(code, "no more tea"));
  OK(MPI_Error_string(code, text, &length));
  CHECK(strcmp(text, "no more tea") == 0);
  int* last = NULL;
  int flag = 0;
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
  CHECK(flag && *last >= mine && *last >= MPI_ERR_LASTCODE); /* the largest class in use */
  return finish();
}
