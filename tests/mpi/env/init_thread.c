/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init_thread gives a level; the levels are ordered; the main thread is told apart (MPI-4, 11.6.2). */
#include "check.h"

#include <pthread.h>

static void* other(void* argument) {
  int flag = 1;
  OK(MPI_Is_thread_main(&flag));
  *(int*)argument = flag;
  return NULL;
}

int main(int argc, char** argv) {
  CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED);
  CHECK(MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
  int provided = -1, asked = -1, flag = 0;
  OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  OK(MPI_Query_thread(&asked));
  CHECK_EQ(asked, provided);
  OK(MPI_Is_thread_main(&flag));
  CHECK(flag);
  if (provided >= MPI_THREAD_FUNNELED) {
    pthread_t thread;
    flag = 1;
    CHECK_EQ(pthread_create(&thread, NULL, other, &flag), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(!flag);
  }
  return finish();
}
