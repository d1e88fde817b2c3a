/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 and all above it leave MPI in order and end; rank 0 goes on and asks for messages from them. It
 * waits first until it has noticed. Calls that do not block find nothing, and that is no error; calls that
 * would wait for ever say why. Sessions only. Usage: left WAY
 *   poll      probes and tests                    cancel   receives and sends that are taken back
 *   self      what this process sends to itself   block    calls that would wait for ever
 *   between   an intercommunicator                thread   a receive that waits for another thread
 *   late      rank 2 leaves a second after the others, and sends before; at least three ranks */
#define _GNU_SOURCE
#include <mpi.h>
#include <mpix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOKS = 200, LONG = 100000 };

static int me, size;
static MPI_Comm all, between;

static void rest(int ms) {
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, NULL);
}

static void fail(int line, const char* what) {
  fprintf(stderr, "line %d: %s\n", line, what);
  exit(3);
}

#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))
#define NOTHING(call) (flag = -1, CHECK((call) == MPI_SUCCESS), CHECK(flag == 0))
#define ABORTED(call) CHECK(class_of(call) == MPI_ERR_PROC_ABORTED)

static int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

static void handle(MPI_Errhandler handler) {
  MPI_Comm_set_errhandler(all, handler);
  if (between != MPI_COMM_NULL) MPI_Comm_set_errhandler(between, handler);
}

static void await_end_of(int rank) {
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  ABORTED(MPI_Probe(rank, 99, all, MPI_STATUS_IGNORE));
  MPI_Comm_set_errhandler(all, MPI_ERRORS_ARE_FATAL);
}

static void await_ends(void) {
  for (int rank = 1; rank < size; ++rank) await_end_of(rank);
}

static void expect_cancelled(int line, MPI_Request* request) {
  MPI_Status status;
  int flag = 0;
  if (MPI_Cancel(request) != MPI_SUCCESS || MPI_Wait(request, &status) != MPI_SUCCESS) fail(line, "cancel");
  MPI_Test_cancelled(&status, &flag);
  if (!flag) fail(line, "not cancelled");
}

/* `early` was posted when its sender was there. */
static void poll_all(MPI_Request* early) {
  int values[3], flag, index, done, places[4];
  MPI_Message message;
  MPI_Request requests[4] = {*early}, pair[2];
  MPI_Irecv(&values[0], 1, MPI_INT, 1, 2, all, &requests[1]);
  MPI_Irecv(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, 3, all, &requests[2]);
  MPI_Recv_init(&values[2], 1, MPI_INT, size - 1, 4, all, &requests[3]);
  MPI_Start(&requests[3]);
  for (int look = 0; look < LOOKS; ++look) {
    NOTHING(MPI_Iprobe(1, MPI_ANY_TAG, all, &flag, MPI_STATUS_IGNORE));
    NOTHING(MPI_Iprobe(MPI_ANY_SOURCE, 3, all, &flag, MPI_STATUS_IGNORE));
    NOTHING(MPI_Improbe(1, 5, all, &flag, &message, MPI_STATUS_IGNORE));
    for (int i = 0; i < 4; ++i) {
      NOTHING(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
      NOTHING(MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE));
    }
    NOTHING(MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE));
    NOTHING(MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE));
    NOTHING(MPI_Testsome(4, requests, &flag, places, MPI_STATUSES_IGNORE));
  }
  /* Another one that is done is told of, and alone. */
  pair[0] = *early;
  MPI_Isend(&me, 1, MPI_INT, 0, 3, all, &pair[1]);
  NOTHING(MPI_Testall(2, pair, &flag, MPI_STATUSES_IGNORE));
  CHECK(MPI_Testsome(2, pair, &done, places, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(done == 1 && places[0] == 1);
  CHECK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE) == MPI_SUCCESS && values[1] == 0);
  expect_cancelled(__LINE__, &requests[1]);
  expect_cancelled(__LINE__, &requests[3]);
  MPI_Request_free(&requests[3]);
}

static void cancel_all(MPI_Request* early) {
  static char data[LONG];
  MPI_Request request;
  int value;
  expect_cancelled(__LINE__, early);
  MPI_Irecv(&value, 1, MPI_INT, 1, 2, all, &request);
  expect_cancelled(__LINE__, &request);
  MPI_Irecv(data, LONG, MPI_CHAR, MPI_ANY_SOURCE, 2, all, &request);
  expect_cancelled(__LINE__, &request);
  MPI_Irecv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_CHAR, 1, 2, all, &request);
  expect_cancelled(__LINE__, &request);
  MPI_Recv_init(&value, 1, MPI_INT, 1, 4, all, &request);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    expect_cancelled(__LINE__, &request);
  }
  MPI_Request_free(&request);
  MPI_Irecv(&value, 1, MPI_INT, 1, 2, all, &request);
  MPI_Request_free(&request);
  MPI_Issend(&value, 1, MPI_INT, 1, 7, all, &request);
  expect_cancelled(__LINE__, &request);
  MPI_Isend(data, LONG, MPI_CHAR, 1, 7, all, &request);
  expect_cancelled(__LINE__, &request);
}

/* A receive with a wildcard waits for this process, too, and takes its place among others. */
static void send_to_self(void) {
  int first = -1, second = -1, value = 5, index;
  MPI_Request requests[3];
  MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 1, all, &requests[0]);
  MPI_Irecv(&second, 1, MPI_INT, 0, 1, all, &requests[1]);
  MPI_Irecv(&index, 1, MPI_INT, 1, 1, all, &requests[2]);
  MPI_Send(&value, 1, MPI_INT, 0, 1, all);
  MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
  CHECK(index == 0 && first == 5 && second == -1);
  MPI_Send(&value, 1, MPI_INT, 0, 1, all);
  MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
  CHECK(index == 1 && second == 5);
  expect_cancelled(__LINE__, &requests[2]);
}

static void block(MPI_Request* early) {
  int value, index, done, places[2];
  MPI_Request requests[2], copy, several[4];
  MPI_Status statuses[2];
  MPI_Message message;
  handle(MPI_ERRORS_RETURN);
  ABORTED(MPI_Wait(early, MPI_STATUS_IGNORE));
  CHECK(*early == MPI_REQUEST_NULL);
  ABORTED(MPI_Recv(&value, 1, MPI_INT, 1, 1, all, MPI_STATUS_IGNORE));
  ABORTED(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, all, MPI_STATUS_IGNORE));
  ABORTED(MPI_Recv(MPIX_BUFFER_LIBRARY, MPIX_COUNT_ANY, MPI_CHAR, 1, 1, all, MPI_STATUS_IGNORE));
  ABORTED(MPI_Sendrecv(&me, 1, MPI_INT, 0, 1, &value, 1, MPI_INT, 1, 1, all, MPI_STATUS_IGNORE));
  CHECK(MPI_Recv(&value, 1, MPI_INT, 0, 1, all, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  ABORTED(MPI_Mprobe(1, 1, all, &message, MPI_STATUS_IGNORE));
  ABORTED(MPI_Probe(MPI_ANY_SOURCE, 1, all, MPI_STATUS_IGNORE));
  ABORTED(MPI_Ssend(&me, 1, MPI_INT, 1, 1, all));
  MPI_Isendrecv(&me, 1, MPI_INT, 0, 2, &value, 1, MPI_INT, 1, 2, all, &requests[0]);
  ABORTED(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  MPI_Recv_init(&value, 1, MPI_INT, 1, 1, all, &requests[0]);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&requests[0]);
    ABORTED(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  }
  MPI_Request_free(&requests[0]);

  MPI_Irecv(&value, 1, MPI_INT, 1, 1, all, &requests[0]);
  MPI_Irecv(&value, 1, MPI_INT, 0, 2, all, &requests[1]); /* of the exchange above */
  CHECK(class_of(MPI_Waitall(2, requests, statuses)) == MPI_ERR_IN_STATUS);
  CHECK(class_of(statuses[0].MPI_ERROR) == MPI_ERR_PROC_ABORTED && statuses[1].MPI_ERROR == MPI_SUCCESS);

  for (int i = 0; i < 2; ++i)
    MPI_Irecv(&value, 1, MPI_INT, i == 0 ? 1 : MPI_ANY_SOURCE, 3, all, &requests[i]);
  ABORTED(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
  CHECK(index == 0 && requests[0] == MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
  copy = requests[1];
  CHECK(MPI_Test(&copy, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done);
  MPI_Irecv(&value, 1, MPI_INT, 1, 3, all, &requests[0]);
  CHECK(class_of(MPI_Waitsome(2, requests, &done, places, statuses)) == MPI_ERR_IN_STATUS && done == 2);
  CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_PROC_ABORTED);

  for (int i = 0; i < 4; ++i) MPI_Irecv(&value, 1, MPI_INT, 1, 4, all, &several[i]);
  ABORTED(MPI_Waitany(4, several, &index, MPI_STATUS_IGNORE));
  CHECK(index == 0);
  for (int i = 1; i < 4; ++i) expect_cancelled(__LINE__, &several[i]);
}

static void ask_between(void) {
  int value, flag;
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, between, &request);
  NOTHING(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  NOTHING(MPI_Iprobe(0, 1, between, &flag, MPI_STATUS_IGNORE));
  NOTHING(MPI_Iprobe(MPI_ANY_SOURCE, 1, between, &flag, MPI_STATUS_IGNORE));
  expect_cancelled(__LINE__, &request);
  handle(MPI_ERRORS_RETURN);
  ABORTED(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, between, MPI_STATUS_IGNORE));
  ABORTED(MPI_Recv(&value, 1, MPI_INT, 0, 1, between, MPI_STATUS_IGNORE));
}

static void* send_later(void* unused) {
  int value = 7;
  rest(500);
  MPI_Send(&value, 1, MPI_INT, 0, 8, all);
  return unused;
}

static void wait_for_thread(void) {
  int value = 0;
  pthread_t sender;
  pthread_create(&sender, NULL, send_later, NULL);
  CHECK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 8, all, MPI_STATUS_IGNORE) == MPI_SUCCESS && value == 7);
  pthread_join(sender, NULL);
}

/* What may still come is waited for, past what cannot. */
static void wait_for_late(void) {
  int values[3], index, done, places[2];
  MPI_Request requests[2];
  MPI_Irecv(&values[0], 1, MPI_INT, 1, 1, all, &requests[0]);
  MPI_Irecv(&values[1], 1, MPI_INT, 2, 1, all, &requests[1]);
  MPI_Send(NULL, 0, MPI_INT, 2, 0, all);
  CHECK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS && index == 1 && values[1] == 2);
  MPI_Irecv(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, all, &requests[1]);
  CHECK(MPI_Waitsome(2, requests, &done, places, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(done == 1 && places[0] == 1);
  await_end_of(2);
  expect_cancelled(__LINE__, &requests[0]);
}

static void leave(const char* way) {
  if (me != 2 || strcmp(way, "late") != 0) return;
  MPI_Recv(NULL, 0, MPI_INT, 0, 0, all, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i) {
    rest(500);
    MPI_Send(&me, 1, MPI_INT, 0, 1, all);
  }
}

static void stay(const char* way) {
  int value;
  MPI_Request early, sent;
  MPI_Irecv(&value, 1, MPI_INT, 1, 1, all, &early);
  MPI_Issend(&value, 1, MPI_INT, 1, 9, all, &sent);
  if (strcmp(way, "late") == 0) {
    await_end_of(1);
    wait_for_late();
  } else {
    await_ends();
  }
  /* Who leaves refuses what comes for a communicator that it has freed, which ends a send. */
  CHECK(MPI_Cancel(&sent) == MPI_SUCCESS && MPI_Wait(&sent, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  if (strcmp(way, "poll") == 0) poll_all(&early);
  if (strcmp(way, "cancel") == 0) return cancel_all(&early);
  if (strcmp(way, "self") == 0) send_to_self();
  if (strcmp(way, "between") == 0) ask_between();
  if (strcmp(way, "thread") == 0) wait_for_thread();
  if (strcmp(way, "block") == 0) return block(&early);
  expect_cancelled(__LINE__, &early);
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "poll";
  MPI_Session session;
  MPI_Info info;
  MPI_Group group;
  MPI_Comm part;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level",
               strcmp(way, "thread") == 0 ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_SINGLE");
  MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
  MPI_Group_free(&group);
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &size);
  between = MPI_COMM_NULL;
  if (strcmp(way, "between") == 0) {
    MPI_Comm_split(all, me == 0, 0, &part);
    MPI_Intercomm_create(part, 0, all, me == 0 ? 1 : 0, 6, &between);
    MPI_Comm_free(&part);
  }
  MPI_Barrier(all); /* over a network, who leaves tells it over the connections that there are */
  if (me == 0) {
    stay(way);
    printf("rank 0 went on\n");
  } else {
    leave(way);
  }
  if (between != MPI_COMM_NULL) MPI_Comm_free(&between);
  MPI_Comm_free(&all);
  MPI_Session_finalize(&session);
  return 0;
}
