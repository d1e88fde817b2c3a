/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 11.5.3 (MPI_Info_create_env): what MPI_INFO_ENV has, in an info object of the caller's own,
 * before MPI is initialised and after it is finalized. */
#include "check.h"

#if MPI_VERSION >= 4

static void check_value(MPI_Info info, const char* key, const char* wanted) {
  char text[1024];
  int flag = 0, room = sizeof text;
  OK(MPI_Info_get_string(info, key, &room, text, &flag));
  if (flag) CHECK(strcmp(text, wanted) == 0); /* every key is optional */
}

static void create(int argc, char** argv) {
  char first[] = "stir", second[] = "gently";
  char* words[] = {first, second, NULL};
  int count = -1;
  MPI_Info info = MPI_INFO_NULL, another;
  OK(MPI_Info_create_env(2, words, &info));
  CHECK(info != MPI_INFO_NULL && info != MPI_INFO_ENV);
  check_value(info, "command", "stir");
  check_value(info, "argv", "gently");
  OK(MPI_Info_set(info, "command", "changed")); /* it can be changed, unlike MPI_INFO_ENV */
  check_value(info, "command", "changed");
  OK(MPI_Info_create_env(argc, argv, &another));
  check_value(another, "command", argv[0]);
  OK(MPI_Info_free(&another));
  OK(MPI_Info_create_env(0, NULL, &another));
  OK(MPI_Info_get_nkeys(another, &count));
  CHECK(count >= 0);
  OK(MPI_Info_free(&another));
  OK(MPI_Info_free(&info));
  CHECK(info == MPI_INFO_NULL);
}

int main(int argc, char** argv) {
  create(argc, argv);
  MPI_Init(&argc, &argv);
  create(argc, argv);
  OK(MPI_Finalize());
  create(argc, argv);
  return 0;
}
#else
int main(void) { return CHECK_SKIP; }
#endif
