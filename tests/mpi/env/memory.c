/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem and its alignment hint; MPI_Pcontrol does nothing by itself (MPI 5.0, 9.2, 15.2.4). np: 1 */
#include "check.h"

#include <stdint.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Info info;
  char* memory = NULL;
  OK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory));
  CHECK(memory != NULL);
  fill(memory, 1000, 3);
  CHECK_EQ(first_difference(memory, 1000, 3), -1);
  OK(MPI_Free_mem(memory));
  OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &memory));
  OK(MPI_Free_mem(memory));
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
  OK(MPI_Alloc_mem(10, info, &memory));
#if MPI_VERSION >= 5
  CHECK_EQ((uintptr_t)memory % 4096, 0);
#endif
  OK(MPI_Free_mem(memory));
  OK(MPI_Info_free(&info));
  OK(MPI_Pcontrol(2, "anything", 3));
  return finish();
}
