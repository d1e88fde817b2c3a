/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitions without elements: none has arrived before its message has, also where the other side is known
 * from an earlier round (MPI 5.0, 4.2.4). needs: mpi-4 */
#include "check.h"

#if MPI_VERSION >= 4
enum { PARTITIONS = 3, ROUNDS = 3 };

static void send_rounds(int to) {
  MPI_Request request;
  OK(MPI_Psend_init(NULL, PARTITIONS, 0, MPI_INT, to, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  for (int round = 0; round < ROUNDS; ++round) {
    OK(MPI_Start(&request));
    OK(MPI_Recv(NULL, 0, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* it has looked */
    OK(MPI_Pready_range(0, PARTITIONS - 1, request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  OK(MPI_Request_free(&request));
}

static void receive_rounds(int from) {
  MPI_Request request;
  OK(MPI_Precv_init(NULL, PARTITIONS, 0, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  for (int round = 0; round < ROUNDS; ++round) {
    int flag = 0;
    OK(MPI_Start(&request));
    for (int look = 0; look < 100; ++look) {
      OK(MPI_Parrived(request, look % PARTITIONS, &flag));
      CHECK_EQ(flag, 0);
    }
    OK(MPI_Send(NULL, 0, MPI_INT, from, 1, MPI_COMM_WORLD));
    for (int partition = 0; partition < PARTITIONS; ++partition)
      for (flag = 0; !flag;) OK(MPI_Parrived(request, partition, &flag));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  OK(MPI_Request_free(&request));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size();
  if (me % 2 == 1) receive_rounds(me - 1);
  if (me % 2 == 0 && me + 1 < size) send_rounds(me + 1);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
