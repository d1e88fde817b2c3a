/* SPDX-License-Identifier: BSD-3-Clause */
/* Version, library version, processor name: callable where the standard says so, terminated within their
 * limits (MPI-4, 9.1). */
#include "check.h"

int main(int argc, char** argv) {
  int version = 0, subversion = -1, length = -1;
  char library[MPI_MAX_LIBRARY_VERSION_STRING], node[MPI_MAX_PROCESSOR_NAME];
  OK(MPI_Get_version(&version, &subversion)); /* before init */
  CHECK_EQ(version, MPI_VERSION);
  CHECK_EQ(subversion, MPI_SUBVERSION);
  OK(MPI_Get_library_version(library, &length));
  CHECK_EQ(length, (int)strlen(library));
  CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING);
  MPI_Init(&argc, &argv);
  OK(MPI_Get_processor_name(node, &length));
  CHECK_EQ(length, (int)strlen(node));
  CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME);
  OK(MPI_Finalize());
  OK(MPI_Get_version(&version, &subversion)); /* after finalize */
  CHECK_EQ(version, MPI_VERSION);
  return 0;
}
