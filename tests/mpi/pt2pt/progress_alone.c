/* SPDX-License-Identifier: BSD-3-Clause */
/* Whoever calls one function that looks at requests or messages again and again, and no other function of
 * MPI, sees in the end what has come (MPI 5.0, 3.5 and 3.7.4): each one makes progress by itself. Also for a
 * message whose sender needs an answer first. np: 2+, needs: mpi-4.1 */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
enum { LONG = 1 << 18, LIMIT_S = 60 };

static char data[LONG];
static MPI_Request request;

static int test(void) {
  int flag;
  OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  return flag;
}
static int testany(void) {
  int flag, index;
  OK(MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE));
  return flag;
}
static int testall(void) {
  int flag;
  OK(MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE));
  return flag;
}
static int testsome(void) {
  int done, index;
  OK(MPI_Testsome(1, &request, &done, &index, MPI_STATUSES_IGNORE));
  return done != 0;
}
static int get_status(void) {
  int flag;
  OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
  return flag;
}
static int get_status_any(void) {
  int flag, index;
  OK(MPI_Request_get_status_any(1, &request, &index, &flag, MPI_STATUS_IGNORE));
  return flag;
}
static int get_status_all(void) {
  int flag;
  OK(MPI_Request_get_status_all(1, &request, &flag, MPI_STATUSES_IGNORE));
  return flag;
}
static int get_status_some(void) {
  int done, index;
  OK(MPI_Request_get_status_some(1, &request, &done, &index, MPI_STATUSES_IGNORE));
  return done != 0;
}
static int iprobe(void) {
  int flag;
  OK(MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  return flag;
}
static int improbe(void) {
  int flag;
  MPI_Message message;
  OK(MPI_Improbe(1, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
  if (flag) OK(MPI_Imrecv(data, LONG, MPI_CHAR, &message, &request));
  return flag;
}

static const struct {
  const char* name;
  int (*look)(void);
  int probes;
} functions[] = {{"Test", test, 0},
                 {"Testany", testany, 0},
                 {"Testall", testall, 0},
                 {"Testsome", testsome, 0},
                 {"Request_get_status", get_status, 0},
                 {"Request_get_status_any", get_status_any, 0},
                 {"Request_get_status_all", get_status_all, 0},
                 {"Request_get_status_some", get_status_some, 0},
                 {"Iprobe", iprobe, 1},
                 {"Improbe", improbe, 1}};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static void looks(int i, int bytes) {
  request = MPI_REQUEST_NULL;
  if (!functions[i].probes) OK(MPI_Irecv(data, LONG, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request));
  OK(MPI_Send(NULL, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD)); /* it may send now, not before */
  const double end = MPI_Wtime() + LIMIT_S;
  int seen = 0;
  while (!seen && MPI_Wtime() < end) seen = functions[i].look();
  if (!seen) fprintf(stderr, "MPI_%s does not see a message of %d bytes\n", functions[i].name, bytes);
  CHECK(seen);
  if (functions[i].look == iprobe)
    OK(MPI_Recv(data, LONG, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(data[bytes - 1], i + 1);
}

int main(int argc, char** argv) {
  static const int sizes[] = {1, 5000, LONG};
  MPI_Init(&argc, &argv);
  const int me = world_rank();
  if (world_size() < 2) return finish();
  for (int i = 0; me < 2 && i < FUNCTIONS; ++i) {
    for (int k = 0; k < 3; ++k) {
      memset(data, me == 1 ? i + 1 : 0, LONG);
      if (me == 0) {
        looks(i, sizes[k]);
      } else {
        OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(data, sizes[k], MPI_CHAR, 0, 1, MPI_COMM_WORLD));
      }
    }
  }
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
