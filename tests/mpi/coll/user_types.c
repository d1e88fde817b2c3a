/* SPDX-License-Identifier: BSD-3-Clause */
/* A user operation on a derived type with holes: the function sees elements laid out as the type says, with
 * its handle, in whatever pieces the library likes (MPI-4, 6.9.5). */
#include <stddef.h>

#include "coll.h"

typedef struct {
  double weight;
  char tag;
  int key;
} Item;

static MPI_Datatype item_type;
static int wrong_type;

/* Keeps the item with the larger key, of equals the lower rank's; adds weights. */
static void pick(void* in, void* inout, int* count, MPI_Datatype* type) {
  const Item* const low = in;
  Item* const high = inout;
  if (*type != item_type) wrong_type = 1;
  for (int i = 0; i < *count; ++i) {
    const double weight = low[i].weight + high[i].weight;
    if (low[i].key >= high[i].key) high[i] = low[i];
    high[i].weight = weight;
  }
}

static Item item_of(int rank, int index) {
  Item item;
  memset(&item, 0x5a, sizeof item);
  item.weight = rank + index;
  item.tag = (char)('a' + rank % 26);
  item.key = (rank * 5 + index) % 7;
  return item;
}

static void check(int count, MPI_Op op) {
  const int me = world_rank(), size = world_size();
  Item* const send = malloc(sizeof(Item) * (size_t)(count + 1));
  Item* const receive = malloc(sizeof(Item) * (size_t)(count + 1));
  for (int i = 0; i < count; ++i) send[i] = item_of(me, i);
  OK(MPI_Allreduce(send, receive, count, item_type, op, MPI_COMM_WORLD));
  for (int i = 0; i < count; ++i) {
    int best = 0;
    for (int r = 1; r < size; ++r)
      if (item_of(r, i).key > item_of(best, i).key) best = r;
    CHECK_EQ(receive[i].key, item_of(best, i).key);
    CHECK_EQ(receive[i].tag, item_of(best, i).tag);
    CHECK_EQ(receive[i].weight, size * (size - 1) / 2 + size * i);
  }
  OK(MPI_Scan(send, receive, count, item_type, op, MPI_COMM_WORLD));
  for (int i = 0; i < count; ++i) CHECK_EQ(receive[i].weight, me * (me + 1) / 2 + (me + 1) * i);
  CHECK_EQ(wrong_type, 0);
  free(send);
  free(receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  count_t lengths[3] = {1, 1, 1};
  MPI_Aint at[3] = {offsetof(Item, weight), offsetof(Item, tag), offsetof(Item, key)};
  MPI_Datatype parts[3] = {MPI_DOUBLE, MPI_CHAR, MPI_INT}, packed;
  OK(MPI_Type_create_struct(3, lengths, at, parts, &packed));
  OK(MPI_Type_create_resized(packed, 0, sizeof(Item), &item_type));
  OK(MPI_Type_commit(&item_type));
  OK(MPI_Type_free(&packed));
  for (int commutes = 0; commutes < 2; ++commutes) {
    MPI_Op op;
    OK(MPI_Op_create(pick, commutes, &op));
    for (int c = 0; c < COUNTS - 1; ++c)
      if (!commutes || kCounts[c] == 0) check(kCounts[c], op);
    OK(MPI_Op_free(&op));
  }
  OK(MPI_Type_free(&item_type));
  return finish();
}
