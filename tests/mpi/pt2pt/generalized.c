/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests: the callbacks, their order and their codes, in every completion call; freeing before
 * the end; a thread that completes what another waits for (MPI 5.0, 13.2). */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

typedef struct {
  int queried, freed, cancelled, code, free_code;
  int elements;
} State;

static int query(void* extra, MPI_Status* status) {
  State* const state = extra;
  ++state->queried;
  OK(MPI_Status_set_elements(status, MPI_INT, state->elements));
  OK(MPI_Status_set_cancelled(status, state->cancelled > 0));
  status->MPI_SOURCE = 17;
  status->MPI_TAG = 23;
  return state->code;
}

static int release(void* extra) {
  State* const state = extra;
  ++state->freed;
  return state->free_code;
}

static int cancel(void* extra, int complete) {
  State* const state = extra;
  if (!complete) ++state->cancelled;
  return MPI_SUCCESS;
}

static MPI_Request begin(State* state) {
  MPI_Request request;
  memset(state, 0, sizeof *state);
  state->elements = 7;
  OK(MPI_Grequest_start(query, release, cancel, state, &request));
  CHECK(request != MPI_REQUEST_NULL);
  return request;
}

static void one(void) {
  State state;
  MPI_Status status;
  int flag, count;
  MPI_Request request = begin(&state);
  OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  CHECK_EQ(state.queried, 0);
  OK(MPI_Grequest_complete(request));
  CHECK_EQ(state.freed, 0);
  OK(MPI_Request_get_status(request, &flag, &status));
  CHECK(flag);
  CHECK_EQ(state.queried, 1);
  CHECK_EQ(state.freed, 0); /* looked at only */
  OK(MPI_Wait(&request, &status));
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQ(state.queried, 2);
  CHECK_EQ(state.freed, 1);
  CHECK_EQ(status.MPI_SOURCE, 17);
  CHECK_EQ(status.MPI_TAG, 23);
  OK(MPI_Get_count(&status, MPI_INT, &count));
  CHECK_EQ(count, 7);
}

static void cancelled(void) {
  State state;
  MPI_Status status;
  int flag;
  MPI_Request request = begin(&state);
  OK(MPI_Cancel(&request));
  CHECK_EQ(state.cancelled, 1);
  OK(MPI_Grequest_complete(request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag);
}

/* Among ordinary requests, in the calls for several. */
static void several(int me, int size) {
  State states[3];
  MPI_Request requests[5];
  MPI_Status statuses[5];
  int in = -1, index, indices[5], done;
  for (int i = 0; i < 3; ++i) requests[i] = begin(&states[i]);
  OK(MPI_Irecv(&in, 1, MPI_INT, (me + 1) % size, 0, MPI_COMM_WORLD, &requests[3]));
  OK(MPI_Isend(&me, 1, MPI_INT, (me + size - 1) % size, 0, MPI_COMM_WORLD, &requests[4]));
  OK(MPI_Waitall(2, &requests[3], MPI_STATUSES_IGNORE));
  OK(MPI_Grequest_complete(requests[1]));
  OK(MPI_Waitany(3, requests, &index, &statuses[0]));
  CHECK_EQ(index, 1);
  CHECK_EQ(states[1].freed, 1);
  OK(MPI_Testsome(3, requests, &done, indices, statuses));
  CHECK_EQ(done, 0);
  OK(MPI_Grequest_complete(requests[2]));
  OK(MPI_Waitsome(3, requests, &done, indices, statuses));
  CHECK_EQ(done, 1);
  CHECK_EQ(indices[0], 2);
  OK(MPI_Grequest_complete(requests[0]));
  OK(MPI_Waitall(3, requests, statuses));
  for (int i = 0; i < 3; ++i) CHECK_EQ(states[i].freed, 1);
}

static void freed_first(void) {
  State state;
  MPI_Request request = begin(&state), copy = request;
  OK(MPI_Request_free(&request));
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQ(state.freed, 0);
  OK(MPI_Grequest_complete(copy));
  CHECK_EQ(state.freed, 1);
  CHECK_EQ(state.queried, 0);
  request = begin(&state);
  OK(MPI_Grequest_complete(request));
  OK(MPI_Request_free(&request));
  CHECK_EQ(state.freed, 1);
}

static void codes(void) {
  State state;
  MPI_Request request = begin(&state);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  state.code = MPI_ERR_OTHER;
  OK(MPI_Grequest_complete(request));
  CHECK_ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  CHECK_EQ(state.freed, 1);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

/* A complete request whose release gives this code. */
static MPI_Request ended(State* state, int code) {
  const MPI_Request request = begin(state);
  state->free_code = code;
  OK(MPI_Grequest_complete(request));
  return request;
}

static void in_statuses(const State* states, const MPI_Status* statuses) {
  for (int i = 0; i < 2; ++i) CHECK_EQ(states[i].freed, 1);
  CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
  CHECK_EQ(check_class(statuses[1].MPI_ERROR), MPI_ERR_FILE);
}

/* The code of the release is that of the call, or stands in the status. */
static void codes_of_release(void) {
  State state, states[2];
  MPI_Request request, two[2], copy;
  MPI_Status statuses[2];
  int index, flag, done, indices[2];
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  request = ended(&state, MPI_ERR_FILE);
  CHECK_ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_FILE);
  CHECK_EQ(state.freed, 1);
  request = ended(&state, MPI_ERR_FILE);
  CHECK_ERROR(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_ERR_FILE);
  CHECK_EQ(state.freed, 1);
  request = ended(&state, MPI_ERR_FILE);
  CHECK_ERROR(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE), MPI_ERR_FILE);
  CHECK_EQ(state.freed, 1);
  request = ended(&state, MPI_ERR_FILE);
  CHECK_ERROR(MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE), MPI_ERR_FILE);
  CHECK_EQ(state.freed, 1);
  request = ended(&state, MPI_ERR_FILE);
  CHECK_ERROR(MPI_Request_free(&request), MPI_ERR_FILE);
  CHECK_EQ(state.freed, 1);
  request = copy = begin(&state);
  state.free_code = MPI_ERR_FILE;
  OK(MPI_Request_free(&request));
  CHECK_ERROR(MPI_Grequest_complete(copy), MPI_ERR_FILE);
  for (int way = 0; way < 4; ++way) {
    for (int i = 0; i < 2; ++i) two[i] = ended(&states[i], i == 0 ? MPI_SUCCESS : MPI_ERR_FILE);
    int rc = MPI_SUCCESS;
    done = 2;
    if (way == 0) rc = MPI_Waitall(2, two, statuses);
    if (way == 1) rc = MPI_Testall(2, two, &flag, statuses);
    if (way == 2) rc = MPI_Waitsome(2, two, &done, indices, statuses);
    if (way == 3) rc = MPI_Testsome(2, two, &done, indices, statuses);
    CHECK_ERROR(rc, MPI_ERR_IN_STATUS);
    CHECK_EQ(done, 2);
    in_statuses(states, statuses);
  }
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void* complete_later(void* argument) {
  usleep(30000);
  OK(MPI_Grequest_complete(*(MPI_Request*)argument));
  return NULL;
}

static void other_thread(void) {
  State state;
  pthread_t thread;
  MPI_Request request = begin(&state), copy = request;
  CHECK_EQ(pthread_create(&thread, NULL, complete_later, &copy), 0);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(state.freed, 1);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  one();
  cancelled();
  several(world_rank(), world_size());
  freed_first();
  codes();
  codes_of_release();
  if (provided == MPI_THREAD_MULTIPLE) other_thread();
  return finish();
}
