/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init takes NULL for both arguments, and the program sees its own arguments (MPI-4, 11.2.1). */
#include "check.h"

int main(int argc, char** argv) {
  CHECK_EQ(argc, 1);
  CHECK(argv[0] && argv[1] == NULL);
  OK(MPI_Init(NULL, NULL));
  return finish();
}
