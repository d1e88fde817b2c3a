/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Request_get_status_any, _all and _some look at requests and leave them as they are
 * (MPI 5.0, 3.7.6). needs: mpi-4.1 */
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
enum { N = 4 };

static void nothing_active(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  int index, flag = 0, done, indices[2], count;
  OK(MPI_Request_get_status_any(2, requests, &index, &flag, &statuses[0]));
  CHECK(flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  OK(MPI_Get_count(&statuses[0], MPI_INT, &count));
  CHECK_EQ(count, 0);
  OK(MPI_Request_get_status_all(2, requests, &flag, statuses));
  CHECK(flag);
  CHECK_EQ(statuses[1].MPI_SOURCE, MPI_ANY_SOURCE);
  OK(MPI_Request_get_status_some(2, requests, &done, indices, statuses));
  CHECK_EQ(done, MPI_UNDEFINED);
  OK(MPI_Request_get_status_all(0, requests, &flag, MPI_STATUSES_IGNORE));
  CHECK(flag);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = world_rank(), size = world_size(), from = (me + 1) % size, to = (me + size - 1) % size;
  MPI_Request requests[N + 1];
  MPI_Status statuses[N + 1];
  int in[N], index, flag, done, indices[N + 1], count;
  nothing_active();
  for (int i = 0; i < N; ++i) OK(MPI_Irecv(&in[i], 1, MPI_INT, from, i, MPI_COMM_WORLD, &requests[i]));
  requests[N] = MPI_REQUEST_NULL;
  OK(MPI_Barrier(MPI_COMM_WORLD)); /* nobody has sent yet */
  OK(MPI_Request_get_status_any(N + 1, requests, &index, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  OK(MPI_Request_get_status_all(N + 1, requests, &flag, statuses));
  CHECK(!flag);
  OK(MPI_Request_get_status_some(N + 1, requests, &done, indices, statuses));
  CHECK_EQ(done, 0);
  OK(MPI_Barrier(MPI_COMM_WORLD));

  const int second = 20 + me;
  OK(MPI_Send(&second, 1, MPI_INT, to, 2, MPI_COMM_WORLD));
  for (flag = 0; !flag;) OK(MPI_Request_get_status_any(N + 1, requests, &index, &flag, &statuses[0]));
  CHECK_EQ(index, 2);
  CHECK_EQ(statuses[0].MPI_TAG, 2);
  CHECK_EQ(statuses[0].MPI_SOURCE, from);
  OK(MPI_Request_get_status_some(N + 1, requests, &done, indices, statuses));
  CHECK_EQ(done, 1);
  CHECK_EQ(indices[0], 2);
  CHECK_EQ(statuses[0].MPI_TAG, 2);
  CHECK(requests[2] != MPI_REQUEST_NULL); /* still there, and again the same answer */
  OK(MPI_Request_get_status_any(N + 1, requests, &index, &flag, MPI_STATUS_IGNORE));
  CHECK(flag && index == 2);

  OK(MPI_Barrier(MPI_COMM_WORLD)); /* everybody has looked */
  for (int i = 0; i < N; ++i)
    if (i != 2) OK(MPI_Send(&i, 1, MPI_INT, to, i, MPI_COMM_WORLD));
  for (flag = 0; !flag;) OK(MPI_Request_get_status_all(N + 1, requests, &flag, statuses));
  for (int i = 0; i < N; ++i) {
    OK(MPI_Get_count(&statuses[i], MPI_INT, &count));
    CHECK_EQ(count, 1);
    CHECK_EQ(statuses[i].MPI_TAG, i);
  }
  OK(MPI_Request_get_status_some(N + 1, requests, &done, indices, MPI_STATUSES_IGNORE));
  CHECK_EQ(done, N);
  OK(MPI_Waitall(N + 1, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(in[2], 20 + from);
  return finish();
}
#else
int main(void) { return CHECK_SKIP; }
#endif
