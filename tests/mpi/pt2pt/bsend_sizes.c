/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered messages of many sizes that end in any order, each in its part of the buffer: none touches
 * another one's part, nor what lies beside the buffer; without room there is an error of class
 * MPI_ERR_BUFFER, and the space of what has ended is used again (MPI 5.0, 3.6). */
#include "check.h"

/* The sizes differ little, so that the holes between messages are often a little too small. They are so large
 * that no MPI sends them before they are received. */
enum { SMALLEST = 150000, STEP = 16, SIZES = 65, ROOM = 10, STEPS = 1000, BESIDE = 4096, TAGS = 64 };

static unsigned seed = 1;
static int any(int below) {
  seed = seed * 1664525u + 1013904223u;
  return (int)((seed >> 8) % (unsigned)below);
}

static struct { int bytes, seed; /* no bytes: nothing is under way with this tag */ } sent[TAGS];
static int under_way;
static unsigned char *message, *got;

static int free_tag(void) {
  int tag = any(TAGS);
  while (sent[tag].bytes != 0) tag = (tag + 1) % TAGS;
  return tag;
}

/* Receives one of those under way, any of them. */
static void receive(void) {
  int tag = any(TAGS), bytes;
  MPI_Status status;
  while (sent[tag].bytes == 0) tag = (tag + 1) % TAGS;
  OK(MPI_Recv(got, SMALLEST + SIZES * STEP, MPI_BYTE, 0, tag, MPI_COMM_SELF, &status));
  OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
  CHECK_EQ(bytes, sent[tag].bytes);
  CHECK_EQ(first_difference(got, (size_t)bytes, sent[tag].seed), -1);
  sent[tag].bytes = 0;
  --under_way;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  /* Where messages take no more than their bytes, ten have room or just not: by their sizes. */
  const int size = ROOM * (SMALLEST + MPI_BSEND_OVERHEAD);
  unsigned char* const all = malloc((size_t)size + 2 * BESIDE);
  memset(all, 0x5a, (size_t)size + 2 * BESIDE);
  message = malloc(SMALLEST + SIZES * STEP);
  got = malloc(SMALLEST + SIZES * STEP);
  seed = (unsigned)world_rank() + 1;
  OK(MPI_Buffer_attach(all + BESIDE, size));
  int refused = 0, taken = 0;
  for (int step = 0; step < STEPS; ++step) {
    const int tag = free_tag(), bytes = SMALLEST + any(SIZES) * STEP;
    fill(message, (size_t)bytes, step);
    const int rc = MPI_Bsend(message, bytes, MPI_BYTE, 0, tag, MPI_COMM_SELF);
    if (rc == MPI_SUCCESS) {
      sent[tag].bytes = bytes;
      sent[tag].seed = step;
      ++under_way;
      ++taken;
      CHECK(under_way <= ROOM);
    } else {
      CHECK_ERROR(rc, MPI_ERR_BUFFER);
      ++refused;
      CHECK(under_way > 0); /* an empty buffer has room for one */
      for (int left = any(3) + 1; left > 0 && under_way > 0; --left) receive();
    }
  }
  CHECK(refused > 0);
  CHECK(taken > 3 * ROOM);
  while (under_way > 0) receive();
  void* back;
  int bytes;
  OK(MPI_Buffer_detach(&back, &bytes));
  CHECK(back == all + BESIDE);
  CHECK_EQ(bytes, size);
  for (int i = 0; i < BESIDE; ++i) {
    CHECK_EQ(all[i], 0x5a);
    CHECK_EQ(all[BESIDE + size + i], 0x5a);
  }
  free(all);
  free(message);
  free(got);
  return finish();
}
