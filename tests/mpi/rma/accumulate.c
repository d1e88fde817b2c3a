/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0, 12.3.4: accumulates of all operations and types, and what they give back.
 * np: 1-8 */
#include "rma.h"

#include <stddef.h>

static int add(int a, int b) { return a + b; }
static int multiply(int a, int b) { return a * b; }
static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }
static int bits_and(int a, int b) { return a & b; }
static int bits_or(int a, int b) { return a | b; }
static int bits_xor(int a, int b) { return a ^ b; }
static int both(int a, int b) { return a && b; }
static int one_of(int a, int b) { return a || b; }
static int one_alone(int a, int b) { return !a != !b; }
static int new_one(int a, int b) { return (void)b, a; }
static int old_one(int a, int b) { return (void)a, b; }

/* Each operation on ints, one element and many, with and without the old value. */
static void all_operations(MPI_Win win, int* base) {
  const struct {
    MPI_Op op;
    int (*same)(int, int);
  } all[] = {{MPI_SUM, add},       {MPI_PROD, multiply},  {MPI_MIN, least},       {MPI_MAX, most},
             {MPI_BAND, bits_and}, {MPI_BOR, bits_or},    {MPI_BXOR, bits_xor},   {MPI_LAND, both},
             {MPI_LOR, one_of},    {MPI_LXOR, one_alone}, {MPI_REPLACE, new_one}, {MPI_NO_OP, old_one}};
  const int rank = world_rank(), size = world_size();
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int origin[50], result[50], one, old;
  for (size_t which = 0; which < sizeof all / sizeof *all; ++which) {
    for (int i = 0; i < 50; ++i) {
      base[i] = i * (rank + 3) % 5;
      origin[i] = (i + rank) % 4;
      result[i] = -1;
    }
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get_accumulate(origin, 40, MPI_INT, result, 40, MPI_INT, next, 2, 40, MPI_INT, all[which].op,
                          win));
    if (all[which].op != MPI_NO_OP)
      OK(MPI_Accumulate(origin, 3, MPI_INT, next, 45, 3, MPI_INT, all[which].op, win));
    one = 9;
    OK(MPI_Fetch_and_op(&one, &old, MPI_INT, next, 0, all[which].op, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(old, 0);
    CHECK_EQ(base[0], all[which].same(9, 0));
    for (int i = 0; i < 50; ++i) {
      const int mine = i * (rank + 3) % 5;
      if (i < 40) CHECK_EQ(result[i], (i + 2) * (next + 3) % 5);
      if (i >= 2 && i < 42) {
        CHECK_EQ(base[i], all[which].same((i - 2 + before) % 4, mine));
      } else if (i >= 45 && i < 48) {
        CHECK_EQ(base[i], all[which].same((i - 45 + before) % 4, mine));
      } else if (i != 0) {
        CHECK_EQ(base[i], mine);
      }
    }
    OK(MPI_Win_fence(0, win));
  }
}

/* With MPI_NO_OP nothing of the origin counts, however wrong it is. */
static void nothing_of_the_origin(MPI_Win win, int* base) {
  int result = 0;
  base[0] = 41 + world_rank();
  OK(MPI_Win_fence(0, win));
  OK(MPI_Fetch_and_op(NULL, &result, MPI_INT, 0, 0, MPI_NO_OP, win));
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(result, 41);
  result = 0;
  OK(MPI_Get_accumulate(NULL, -5, MPI_DATATYPE_NULL, &result, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win));
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(result, 41);
  CHECK_EQ(base[0], 41 + world_rank());
}

/* Gaps at the origin, in the result and at the target. */
static void derived_types(MPI_Win win, int* base) {
  const int next = (world_rank() + 1) % world_size();
  int origin[100], result[100];
  MPI_Datatype third, pairs;
  OK(MPI_Type_vector(20, 1, 3, MPI_INT, &third));
  OK(MPI_Type_vector(10, 2, 5, MPI_INT, &pairs));
  OK(MPI_Type_commit(&third));
  OK(MPI_Type_commit(&pairs));
  for (int i = 0; i < 100; ++i) base[i] = i, origin[i] = 1000 * i, result[i] = -1;
  OK(MPI_Win_fence(0, win));
  OK(MPI_Get_accumulate(origin, 1, third, result, 1, pairs, next, 1, 1, pairs, MPI_SUM, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 20; ++i) {
    const int at = i / 2 * 5 + i % 2;
    CHECK_EQ(result[at], at + 1);
    CHECK_EQ(base[at + 1], at + 1 + 3000 * i);
  }
  CHECK_EQ(base[3], 3);
  CHECK_EQ(result[2], -1);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Accumulate(origin, 20, MPI_INT, next, 1, 1, third, MPI_REPLACE, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 20; ++i) CHECK_EQ(base[3 * i + 1], 1000 * i);
  OK(MPI_Type_free(&third));
  OK(MPI_Type_free(&pairs));
}

/* Pairs: predefined ones with padding, and types made of them. */
static void pairs_of_value_and_index(void) {
  struct pair {
    double value;
    int index;
  } * base, origin[6], result[6];
  const int next = (world_rank() + 1) % world_size();
  MPI_Datatype every_second;
  MPI_Win win;
  OK(MPI_Win_allocate(6 * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  OK(MPI_Type_vector(3, 1, 2, MPI_DOUBLE_INT, &every_second));
  OK(MPI_Type_commit(&every_second));
  for (int i = 0; i < 6; ++i) {
    base[i].value = 10 * i, base[i].index = i;
    origin[i].value = 25, origin[i].index = 100 + i;
  }
  OK(MPI_Win_fence(0, win));
  OK(MPI_Get_accumulate(origin, 6, MPI_DOUBLE_INT, result, 6, MPI_DOUBLE_INT, next, 0, 6, MPI_DOUBLE_INT,
                        MPI_MAXLOC, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 6; ++i) {
    CHECK(result[i].value == 10 * i && result[i].index == i);
    CHECK(base[i].value == (i < 3 ? 25 : 10 * i) && base[i].index == (i < 3 ? 100 + i : i));
  }
  OK(MPI_Win_fence(0, win));
  OK(MPI_Accumulate(origin, 1, every_second, next, 1, 1, every_second, MPI_REPLACE, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 3; ++i) CHECK_EQ(base[2 * i + 1].index, 100 + 2 * i);
  CHECK_EQ(base[4].index, 4);
  OK(MPI_Type_free(&every_second));
  OK(MPI_Win_free(&win));
}

/* Doubles at any address. */
static void odd_addresses(void) {
  char *base, here[40];
  double value = 1.5, got;
  const int next = (world_rank() + 1) % world_size();
  MPI_Win win;
  OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  memset(base, 0, 64);
  memcpy(here + 1, &value, sizeof value);
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 3; ++i)
    OK(MPI_Accumulate(here + 1, 1, MPI_DOUBLE, next, 3, 1, MPI_DOUBLE, MPI_SUM, win));
  OK(MPI_Win_fence(0, win));
  memcpy(&got, base + 3, sizeof got);
  CHECK(got == 4.5);
  OK(MPI_Win_free(&win));
}

static void with_requests(MPI_Win win, int* base) {
  const int next = (world_rank() + 1) % world_size();
  int one = 1, two = 2, old = -1, got = -1;
  MPI_Request requests[4];
  base[0] = base[1] = base[2] = 5;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock_all(0, win));
  OK(MPI_Rput(&one, 1, MPI_INT, next, 0, 1, MPI_INT, win, &requests[0]));
  OK(MPI_Rget(&got, 1, MPI_INT, next, 2, 1, MPI_INT, win, &requests[1]));
  OK(MPI_Raccumulate(&two, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, win, &requests[2]));
  OK(MPI_Rget_accumulate(&two, 1, MPI_INT, &old, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, win,
                         &requests[3]));
  OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 4; ++i) CHECK(requests[i] == MPI_REQUEST_NULL);
  CHECK_EQ(got, 5);
  CHECK_EQ(old, 7);
  OK(MPI_Rput(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[0]));
  OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(base[0], 1);
  CHECK_EQ(base[1], 9);
}

static void add_user(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
}

/* What contributes nothing to a typemap does not make it one of several predefined types. */
static void empty_entries(MPI_Win win, int* base) {
  const count_t lengths[4] = {2, 0, 1, 1};
#ifdef MPI_TEST_LARGE
  const MPI_Count places[4] = {0, 0, 0, 3 * sizeof(int)};
#else
  const MPI_Aint places[4] = {0, 0, 0, 3 * sizeof(int)};
#endif
  const int rank = world_rank(), next = (rank + 1) % world_size();
  int origin[4] = {1, 2, 3, 4};
  MPI_Datatype parts[4] = {MPI_INT, MPI_DOUBLE, MPI_DATATYPE_NULL, MPI_INT}, three, none;
  OK(MPI_Type_contiguous(0, MPI_FLOAT, &parts[2]));
  OK(MPI_Type_commit(&parts[2]));
  OK(MPI_Type_create_struct(0, lengths, places, parts, &none));
  OK(MPI_Type_commit(&none));
  OK(MPI_Type_create_struct(4, lengths, places, parts, &three));
  OK(MPI_Type_commit(&three));
  for (int i = 0; i < 4; ++i) base[i] = 10 * i;
  OK(MPI_Win_fence(0, win));
  OK(MPI_Accumulate(origin, 1, three, next, 0, 1, three, MPI_SUM, win));
  OK(MPI_Win_fence(0, win));
  OK(MPI_Accumulate(origin, 3, MPI_INT, next, 0, 1, three, MPI_SUM, win));
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(base[0], 2);
  CHECK_EQ(base[1], 14);
  CHECK_EQ(base[2], 20);
  CHECK_EQ(base[3], 37);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Accumulate(origin, 0, MPI_INT, next, 0, 2, parts[2], MPI_SUM, win)); /* nothing, said in two ways */
  CHECK_ERROR(MPI_Accumulate(origin, 3, none, next, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_TRUNCATE);
  OK(MPI_Win_fence(0, win));
  OK(MPI_Type_free(&none));
  OK(MPI_Type_free(&parts[2]));
  OK(MPI_Type_free(&three));
}

static void wrong_arguments(MPI_Win win) {
  int value = 0, other = 0;
  float number = 0;
  struct {
    int a;
    float b;
  } mixed = {0, 0};
  const count_t lengths[2] = {1, 1};
#ifdef MPI_TEST_LARGE
  const MPI_Count places[2] = {0, sizeof(int)};
#else
  const MPI_Aint places[2] = {0, sizeof(int)};
#endif
  const MPI_Datatype parts[2] = {MPI_INT, MPI_FLOAT};
  MPI_Datatype both_types;
  MPI_Op user;
  OK(MPI_Type_create_struct(2, lengths, places, parts, &both_types));
  OK(MPI_Type_commit(&both_types));
  OK(MPI_Op_create(add_user, 1, &user));
  OK(MPI_Win_fence(0, win));
  CHECK_ERROR(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, user, win), MPI_ERR_OP);
  CHECK_ERROR(MPI_Accumulate(&number, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
  CHECK_ERROR(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MAXLOC, win), MPI_ERR_OP);
  CHECK_ERROR(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Accumulate(&mixed, 1, both_types, 0, 0, 1, both_types, MPI_SUM, win), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Accumulate(&value, 1, MPI_INT, 0, 100, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  CHECK_ERROR(MPI_Fetch_and_op(&value, &other, MPI_INT, 0, 100, MPI_SUM, win), MPI_ERR_RMA_RANGE);
  CHECK_ERROR(MPI_Fetch_and_op(&mixed, &mixed, both_types, 0, 0, MPI_SUM, win), MPI_ERR_TYPE);
  CHECK_ERROR(MPI_Compare_and_swap(&number, &number, &number, MPI_FLOAT, 0, 0, win), MPI_ERR_TYPE);
  OK(MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 1000, 1, MPI_INT, MPI_SUM, win));
  OK(MPI_Fetch_and_op(&value, &other, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win));
  OK(MPI_Compare_and_swap(&value, &value, &other, MPI_INT, MPI_PROC_NULL, 0, win));
  OK(MPI_Win_fence(0, win));
  OK(MPI_Type_free(&both_types));
  OK(MPI_Op_free(&user));
}

int main(int argc, char** argv) {
  int* base;
  MPI_Win win;
  OK(MPI_Init(&argc, &argv));
  win = int_window(100, &base);
  all_operations(win, base);
  nothing_of_the_origin(win, base);
  derived_types(win, base);
  with_requests(win, base);
  empty_entries(win, base);
  wrong_arguments(win);
  OK(MPI_Win_free(&win));
  pairs_of_value_and_index();
  odd_addresses();
  return finish();
}
