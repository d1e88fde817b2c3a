/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Buffer_detach gives the buffer back when no message is in it any more, also none that another thread
 * has put there while it waited (MPI 5.0, 3.6). np: 2 */
#include "threads.h"

#include <unistd.h>

/* More than any MPI sends to a process that receives nothing. */
enum { BYTES = 1 << 20, ROOM = 2 * (BYTES + MPI_BSEND_OVERHEAD), FIRST = 1, SECOND, GO, DETACHED };

static unsigned char message[BYTES];
static _Atomic int detaching;

static void* send_second(void* argument) {
  (void)argument;
  while (!detaching) usleep(1000);
  usleep(100000);
  fill(message, BYTES, SECOND);
  OK(MPI_Bsend(message, BYTES, MPI_BYTE, 1, SECOND, MPI_COMM_WORLD));
  OK(MPI_Send(NULL, 0, MPI_BYTE, 1, GO, MPI_COMM_WORLD));
  return NULL;
}

static void sender(void) {
  void *const room = malloc(ROOM), *back = NULL;
  int bytes = 0;
  pthread_t second;
  OK(MPI_Buffer_attach(room, ROOM));
  fill(message, BYTES, FIRST);
  OK(MPI_Bsend(message, BYTES, MPI_BYTE, 1, FIRST, MPI_COMM_WORLD));
  CHECK_EQ(pthread_create(&second, NULL, send_second, NULL), 0);
  detaching = 1;
  OK(MPI_Buffer_detach(&back, &bytes));
  CHECK(back == room);
  memset(room, 0, ROOM);
  OK(MPI_Send(NULL, 0, MPI_BYTE, 1, DETACHED, MPI_COMM_WORLD));
  CHECK_EQ(pthread_join(second, NULL), 0);
  free(room);
}

static void receiver(void) {
  int detached;
  OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Recv(message, BYTES, MPI_BYTE, 0, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(first_difference(message, BYTES, FIRST), -1);
  for (int i = 0; i < 200; ++i) { /* time for the fault; nothing can come if there is none */
    OK(MPI_Iprobe(0, DETACHED, MPI_COMM_WORLD, &detached, MPI_STATUS_IGNORE));
    CHECK(!detached);
    usleep(1000);
  }
  OK(MPI_Recv(message, BYTES, MPI_BYTE, 0, SECOND, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(first_difference(message, BYTES, SECOND), -1);
  OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, DETACHED, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  if (!init_multiple(&argc, &argv)) return CHECK_SKIP;
  if (world_rank() == 0) sender();
  if (world_rank() == 1) receiver();
  return finish();
}
