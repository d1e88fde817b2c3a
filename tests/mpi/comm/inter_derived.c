/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators made from an intercommunicator: duplicates, subgroups by MPI_Comm_create and
 * MPI_Comm_split, comparison, attributes (MPI 5.0, 7.4.1, 7.4.2). np: 2+ */
#include "inter.h"

static int copies;

static int count_copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  ++copies;
  return MPI_SUCCESS;
}

static void duplicates(const Bridge* b) {
  MPI_Comm copy, later;
  MPI_Request request;
  int keyval, result, flag;
  char memory[4], *value = NULL;
  OK(MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
  OK(MPI_Comm_set_attr(b->between, keyval, memory));
  copies = 0;
  OK(MPI_Comm_dup(b->between, &copy));
  CHECK_EQ(copies, 1);
  OK(MPI_Comm_get_attr(copy, keyval, &value, &flag));
  CHECK(flag && value == memory + 1);
  OK(MPI_Comm_compare(b->between, copy, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  OK(MPI_Comm_compare(b->between, b->local, &result));
  CHECK_EQ(result, MPI_UNEQUAL);
  check_groups(copy, b->here, b->mine, b->there, b->others);
  check_messages(copy, b->me, b->there, b->others);
  OK(MPI_Comm_idup(copy, &later, &request));
  OK(MPI_Barrier(copy));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_groups(later, b->here, b->mine, b->there, b->others);
  check_messages(later, b->me, b->there, b->others);
  OK(MPI_Comm_free(&later));
  OK(MPI_Comm_delete_attr(b->between, keyval));
  OK(MPI_Comm_free(&copy));
  OK(MPI_Comm_free_keyval(&keyval));
}

/* The first member of each group, and nobody of one group. */
static void subgroups(const Bridge* b) {
  MPI_Group group, part;
  MPI_Comm made;
  const int first = 0;
  OK(MPI_Comm_group(b->between, &group));
  OK(MPI_Group_incl(group, 1, &first, &part));
  OK(MPI_Comm_create(b->between, part, &made));
  if (b->me == 0) {
    check_groups(made, b->here, 1, b->there, 1);
    check_messages(made, 0, b->there, 1);
    OK(MPI_Comm_free(&made));
  }
  CHECK(made == MPI_COMM_NULL);
  OK(MPI_Comm_create(b->between, b->side == 0 ? part : MPI_GROUP_EMPTY, &made));
  CHECK(made == MPI_COMM_NULL);
  OK(MPI_Group_free(&part));
  OK(MPI_Group_free(&group));
}

/* Reversed in one communicator; then one color per rank, which the other group may not have. */
static void splits(const Bridge* b) {
  MPI_Comm made;
  int here[64], there[64];
  OK(MPI_Comm_split(b->between, 3, -b->me, &made));
  for (int i = 0; i < b->mine; ++i) here[i] = b->here[b->mine - 1 - i];
  for (int i = 0; i < b->others; ++i) there[i] = b->there[b->others - 1 - i];
  check_groups(made, here, b->mine, there, b->others);
  check_messages(made, b->mine - 1 - b->me, there, b->others);
  OK(MPI_Comm_free(&made));
  OK(MPI_Comm_split(b->between, b->me, 0, &made));
  if (b->me < b->others) {
    check_groups(made, &b->here[b->me], 1, &b->there[b->me], 1);
    OK(MPI_Comm_free(&made));
  }
  CHECK(made == MPI_COMM_NULL);
  OK(MPI_Comm_split(b->between, b->me == 0 ? 1 : MPI_UNDEFINED, 0, &made));
  if (b->me == 0) OK(MPI_Comm_free(&made));
  CHECK(made == MPI_COMM_NULL);
}

/* A communicator that is freed while a message is under way still delivers it. */
static void freed_early(const Bridge* b) {
  MPI_Comm copy;
  MPI_Request requests[2];
  int out = 9, in = -1;
  OK(MPI_Comm_dup(b->between, &copy));
  if (b->me == 0) {
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, copy, &requests[0]));
    OK(MPI_Isend(&out, 1, MPI_INT, 0, 0, copy, &requests[1]));
  }
  OK(MPI_Comm_free(&copy));
  if (b->me == 0) OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  if (b->me == 0) CHECK_EQ(in, 9);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int shape = 0; shape < SHAPES; ++shape) {
    Bridge b = build_bridge(shape, shape == HALVES);
    duplicates(&b);
    subgroups(&b);
    splits(&b);
    freed_early(&b);
    free_bridge(&b);
  }
  return finish();
}
