/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 sections 5.2 and 5.3: packing and unpacking step by step, natively and as external32; element
 * counts. np: 1 */
#include "check.h"

static void check_native(void) {
  double matrix[6][5], column[6], back[6][5];
  char packed[200];
  count_t position = 0, size = 0, again;
  int i, j, n = 77, m = 0;
  MPI_Datatype type;
  for (i = 0; i < 6; ++i) {
    for (j = 0; j < 5; ++j) matrix[i][j] = 10 * i + j, back[i][j] = -1;
  }
  OK(MPI_Type_vector(6, 1, 5, MPI_DOUBLE, &type));
  OK(MPI_Type_commit(&type));
  OK(MPI_Pack_size(1, type, MPI_COMM_WORLD, &size));
  CHECK(size >= 48);
  OK(MPI_Pack(&n, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD));
  OK(MPI_Pack(&matrix[0][2], 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
  CHECK(MPI_Pack(matrix, 30, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_WORLD) != MPI_SUCCESS);
  size = position;
  position = 0;
  OK(MPI_Unpack(packed, size, &position, &m, 1, MPI_INT, MPI_COMM_WORLD));
  CHECK_EQ(m, 77);
  again = position;
  OK(MPI_Unpack(packed, size, &position, column, 6, MPI_DOUBLE, MPI_COMM_WORLD));
  CHECK_EQ(position, size);
  OK(MPI_Unpack(packed, size, &again, &back[0][2], 1, type, MPI_COMM_WORLD));
  for (i = 0; i < 6; ++i) {
    CHECK(column[i] == 10 * i + 2);
    CHECK(back[i][2] == 10 * i + 2);
    CHECK(back[i][1] == -1 && back[i][3] == -1);
  }
  OK(MPI_Type_free(&type));
}

static void check_external(void) {
  const int values[2] = {1, -2};
  int back[2] = {0, 0};
  unsigned char outside[8];
  MPI_Aint position = 0, size = 0;
  OK(MPI_Pack_external_size("external32", 2, MPI_INT, &size));
  CHECK_EQ(size, 8);
  OK(MPI_Pack_external("external32", values, 2, MPI_INT, outside, 8, &position));
  CHECK_EQ(position, 8);
  CHECK_EQ(outside[3], 1);
  CHECK_EQ(outside[0], 0);
  CHECK_EQ(outside[4], 255);
  CHECK_EQ(outside[7], 254);
  position = 0;
  OK(MPI_Unpack_external("external32", outside, 8, &position, back, 2, MPI_INT));
  CHECK_EQ(back[0], 1);
  CHECK_EQ(back[1], -2);
  CHECK(MPI_Pack_external("native", values, 2, MPI_INT, outside, 8, &position) != MPI_SUCCESS);
}

/* What does not fit is an error and leaves position and memory alone; what fits to the last byte does. */
static void check_room_native(void) {
  const int values[3] = {1, 2, 3};
  int back[4] = {-1, -1, -1, -1};
  char packed[12];
  count_t position = 4;
  OK(MPI_Pack(values, 2, MPI_INT, packed, 12, &position, MPI_COMM_WORLD));
  CHECK_EQ(position, 12);
  OK(MPI_Pack(values, 0, MPI_INT, packed, 12, &position, MPI_COMM_WORLD));
  CHECK_ERROR(MPI_Pack(values, 1, MPI_INT, packed, 12, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
  CHECK_EQ(position, 12);
  position = -1;
  CHECK_ERROR(MPI_Pack(values, 1, MPI_INT, packed, 12, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
  position = 13;
  CHECK_ERROR(MPI_Pack(values, 0, MPI_INT, packed, 12, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
  position = 5;
  CHECK_ERROR(MPI_Pack(values, 2, MPI_INT, packed, 12, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
  position = 0;
  OK(MPI_Pack(values, 1, MPI_INT, packed, 12, &position, MPI_COMM_WORLD));
  position = 0;
  OK(MPI_Unpack(packed, 12, &position, back, 3, MPI_INT, MPI_COMM_WORLD));
  CHECK(back[0] == 1 && back[1] == 1 && back[2] == 2 && back[3] == -1);
  CHECK_ERROR(MPI_Unpack(packed, 12, &position, back, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  CHECK_EQ(position, 12);
  position = -1;
  CHECK_ERROR(MPI_Unpack(packed, 12, &position, back, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  position = 13;
  CHECK_ERROR(MPI_Unpack(packed, 12, &position, back, 0, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  CHECK_EQ(back[0], 1);
}

static void check_room_external(void) {
  const int values[2] = {1, -2};
  int back[2] = {-1, -1};
  unsigned char outside[8] = {9, 9, 9, 9, 9, 9, 9, 9};
  MPI_Aint position = -1;
  CHECK_ERROR(MPI_Pack_external("external32", values, 1, MPI_INT, outside, 8, &position), MPI_ERR_ARG);
  position = 9;
  CHECK_ERROR(MPI_Pack_external("external32", values, 0, MPI_INT, outside, 8, &position), MPI_ERR_ARG);
  position = 5;
  CHECK_ERROR(MPI_Pack_external("external32", values, 1, MPI_INT, outside, 8, &position), MPI_ERR_ARG);
  CHECK(outside[4] == 9 && outside[7] == 9);
  position = 4;
  OK(MPI_Pack_external("external32", values, 1, MPI_INT, outside, 8, &position));
  CHECK_EQ(position, 8);
  OK(MPI_Pack_external("external32", values, 0, MPI_INT, outside, 8, &position));
  CHECK(outside[3] == 9 && outside[7] == 1);
  CHECK_ERROR(MPI_Unpack_external("external32", outside, 8, &position, back, 1, MPI_INT), MPI_ERR_TRUNCATE);
  position = -1;
  CHECK_ERROR(MPI_Unpack_external("external32", outside, 8, &position, back, 1, MPI_INT), MPI_ERR_TRUNCATE);
  position = 5;
  CHECK_ERROR(MPI_Unpack_external("external32", outside, 8, &position, back, 1, MPI_INT), MPI_ERR_TRUNCATE);
  CHECK(back[0] == -1 && back[1] == -1);
  CHECK_ERROR(MPI_Unpack_external("native", outside, 8, &position, back, 1, MPI_INT), MPI_ERR_ARG);
  CHECK_ERROR(MPI_Pack_external_size("native", 1, MPI_INT, &position), MPI_ERR_ARG);
}

static void check_elements(void) {
  count_t lengths[2] = {1, 2}, count;
  MPI_Aint at[2] = {0, 8};
  MPI_Count elements;
  MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type;
  MPI_Status status;
  memset(&status, 0, sizeof status);
  OK(MPI_Type_create_struct(2, lengths, at, types, &type));
  /* One whole element of three and one part of two. */
  OK(MPI_Status_set_elements(&status, type, 5));
  OK(MPI_Get_elements(&status, type, &count));
  CHECK_EQ(count, 5);
  OK(MPI_Get_elements_x(&status, type, &elements));
  CHECK_EQ(elements, 5);
  OK(MPI_Get_count(&status, type, &count));
  CHECK_EQ(count, MPI_UNDEFINED);
  OK(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK_EQ(count, 20 + 4 + 8);
  OK(MPI_Status_set_elements_x(&status, type, 6));
  OK(MPI_Get_count(&status, type, &count));
  CHECK_EQ(count, 2);
  OK(MPI_Type_free(&type));
}

int main(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check_native();
  check_external();
  check_room_native();
  check_room_external();
  check_elements();
  MPI_Finalize();
  return 0;
}
