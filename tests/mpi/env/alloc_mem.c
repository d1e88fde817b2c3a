/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 section 9.2: memory from MPI can be used as any other, also in communication; the alignment that
 * info asks for is kept; no memory is also an answer. */
#include <stdint.h>
#include "check.h"

static void use(void) {
  enum { kBytes = 300000 };
  unsigned char *from = NULL, *to = NULL;
  OK(MPI_Alloc_mem(kBytes, MPI_INFO_NULL, &from));
  OK(MPI_Alloc_mem(kBytes, MPI_INFO_NULL, &to));
  CHECK(from != NULL && to != NULL);
  CHECK(from + kBytes <= to || to + kBytes <= from);
  CHECK((uintptr_t)from % sizeof(double) == 0);
  fill(from, kBytes, 3);
  memset(to, 0, kBytes);
  const int next = (world_rank() + 1) % world_size(),
            before = (world_rank() + world_size() - 1) % world_size();
  OK(MPI_Sendrecv(from, kBytes, MPI_BYTE, next, 0, to, kBytes, MPI_BYTE, before, 0, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  CHECK_EQ(first_difference(to, kBytes, 3), -1);
  OK(MPI_Free_mem(from));
  OK(MPI_Free_mem(to));
}

static void alignment(void) {
  char* memory = NULL;
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
  OK(MPI_Info_set(info, "a hint that nobody knows", "1"));
  OK(MPI_Alloc_mem(100, info, &memory));
#if MPI_VERSION >= 4
  CHECK_EQ((uintptr_t)memory % 4096, 0);
#endif
  OK(MPI_Free_mem(memory));
  OK(MPI_Info_free(&info));
}

/* Section 9.2: what is given back must have been given. */
static void wrong_addresses(void) {
  enum { kBytes = 1 << 20 };
  char *memory = NULL, *small = NULL;
  OK(MPI_Alloc_mem(kBytes, MPI_INFO_NULL, &memory));
  OK(MPI_Alloc_mem(100, MPI_INFO_NULL, &small));
#ifdef MPI_ABI_VERSION /* older peers hand it to free() */
  CHECK_ERROR(MPI_Free_mem(memory + 4096), MPI_ERR_BASE);
  CHECK_ERROR(MPI_Free_mem(small + 8), MPI_ERR_BASE);
  CHECK_ERROR(MPI_Free_mem(&memory), MPI_ERR_BASE);
#endif
  memset(memory, 1, kBytes);
  OK(MPI_Free_mem(memory));
  OK(MPI_Free_mem(small));
#ifdef MPI_ABI_VERSION
  CHECK_ERROR(MPI_Free_mem(memory), MPI_ERR_BASE);
  CHECK_ERROR(MPI_Free_mem(small), MPI_ERR_BASE);
#endif
}

static void very_often(void) {
  enum { kLive = 40, kRounds = 3000 };
  char* live[kLive] = {NULL};
  for (int i = 0; i < kRounds; ++i) {
    char** const at = &live[i * 7 % kLive];
    const int bytes = 1000 + i * 997 % 300000;
    if (*at != NULL) OK(MPI_Free_mem(*at));
    OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, at));
    (*at)[0] = (*at)[bytes - 1] = 7;
  }
  for (int i = 0; i < kLive; ++i) OK(MPI_Free_mem(live[i]));
}

static void corners(void) {
  void* memory = &memory;
  OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &memory));
  OK(MPI_Free_mem(memory));
  CHECK(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory) != MPI_SUCCESS);
  CHECK_ERROR(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  use();
  alignment();
  wrong_addresses();
  very_often();
  corners();
  return finish();
}
