/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.3.1, 12.3.2: puts and gets between fences, of all sorts of types.
 * np: 1-8 */
#include "rma.h"

enum { kInts = 4096 };

static void ints_in_a_row(MPI_Win win, int* base) {
  const int rank = world_rank(), size = world_size();
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  static int out[kInts], in[kInts];
  for (int i = 0; i < kInts; ++i) out[i] = 100000 * rank + i, base[i] = -1;
  OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  OK(MPI_Put(out, 1000, MPI_INT, next, 7, 1000, MPI_INT, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < kInts; ++i) CHECK_EQ(base[i], i >= 7 && i < 1007 ? 100000 * before + i - 7 : -1);
  OK(MPI_Get(in, kInts, MPI_INT, next, 0, kInts, MPI_INT, win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  for (int i = 0; i < kInts; ++i) CHECK_EQ(in[i], i >= 7 && i < 1007 ? 100000 * rank + i - 7 : -1);
}

/* A column here becomes a row there, a row here every third int there, and gaps on both sides. */
static void types_with_gaps(MPI_Win win, int* base) {
  const int rank = world_rank(), size = world_size();
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  static int out[kInts], in[kInts];
  MPI_Datatype column, third, pairs;
  OK(MPI_Type_vector(20, 1, 30, MPI_INT, &column));
  OK(MPI_Type_vector(20, 1, 3, MPI_INT, &third));
  OK(MPI_Type_vector(10, 2, 5, MPI_INT, &pairs));
  OK(MPI_Type_commit(&column));
  OK(MPI_Type_commit(&third));
  OK(MPI_Type_commit(&pairs));
  for (int i = 0; i < kInts; ++i) out[i] = 1000 * rank + i, in[i] = base[i] = -1;
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(out, 1, column, next, 0, 20, MPI_INT, win));
  OK(MPI_Put(out, 20, MPI_INT, next, 100, 1, third, win));
  OK(MPI_Put(out, 1, column, next, 300, 1, pairs, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 20; ++i) {
    CHECK_EQ(base[i], 1000 * before + 30 * i);
    CHECK_EQ(base[100 + 3 * i], 1000 * before + i);
    CHECK_EQ(base[300 + i / 2 * 5 + i % 2], 1000 * before + 30 * i);
  }
  CHECK_EQ(base[20], -1);
  CHECK_EQ(base[101], -1);
  CHECK_EQ(base[302], -1);
  OK(MPI_Get(in, 1, third, next, 300, 1, pairs, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 20; ++i) CHECK_EQ(in[3 * i], 1000 * rank + 30 * i);
  CHECK_EQ(in[1], -1);
  OK(MPI_Type_free(&column));
  OK(MPI_Type_free(&third));
  OK(MPI_Type_free(&pairs));
}

/* More than is packed at a time, gaps on both sides, and pieces that end inside of blocks. */
static void long_types_with_gaps(void) {
  enum { kBlocks = 9001 };
  const int next = (world_rank() + 1) % world_size(),
            before = (world_rank() + world_size() - 1) % world_size();
  static unsigned char out[kBlocks * 11], *base;
  MPI_Datatype here, there;
  MPI_Win win;
  OK(MPI_Win_allocate(kBlocks * 13, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  OK(MPI_Type_vector(kBlocks, 7, 11, MPI_BYTE, &here));
  OK(MPI_Type_vector(kBlocks, 7, 13, MPI_BYTE, &there));
  OK(MPI_Type_commit(&here));
  OK(MPI_Type_commit(&there));
  fill(out, sizeof out, world_rank());
  memset(base, 0xee, kBlocks * 13);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(out, 1, here, next, 0, 1, there, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < kBlocks; ++i) {
    for (int j = 0; j < 7; ++j) CHECK_EQ(base[i * 13 + j], pattern(before, (size_t)(i * 11 + j)));
    if (i + 1 < kBlocks) CHECK_EQ(base[i * 13 + 7], 0xee);
  }
  OK(MPI_Type_free(&here));
  OK(MPI_Type_free(&there));
  OK(MPI_Win_free(&win));
}

/* Displacements are in the target's units, which may differ from rank to rank. */
static void units_of_the_target(void) {
  const int rank = world_rank(), size = world_size(), next = (rank + 1) % size;
  char *base, value = (char)(rank + 1);
  MPI_Win win;
  OK(MPI_Win_allocate(64, rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  memset(base, 0, 64);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(&value, 1, MPI_CHAR, next, 3, 1, MPI_CHAR, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 64; ++i) CHECK_EQ(base[i], i == 3 * (rank + 1) ? (rank + size - 1) % size + 1 : 0);
  OK(MPI_Win_free(&win));
}

/* Nothing, to nobody, and nothing to somebody beyond the end. */
static void nothing_happens(MPI_Win win) {
  int value = 1;
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 1 << 30, 1, MPI_INT, win));
  OK(MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
  OK(MPI_Put(NULL, 0, MPI_INT, 0, kInts, 0, MPI_INT, win));
  OK(MPI_Get(NULL, 0, MPI_INT, 0, 0, 0, MPI_INT, win));
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(value, 1);
}

int main(int argc, char** argv) {
  int* base;
  MPI_Win win;
  OK(MPI_Init(&argc, &argv));
  win = int_window(kInts, &base);
  ints_in_a_row(win, base);
  types_with_gaps(win, base);
  nothing_happens(win);
  OK(MPI_Win_free(&win));
  long_types_with_gaps();
  units_of_the_target();
  return finish();
}
