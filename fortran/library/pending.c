/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of operations that go on after the call, until their request completes. Layer: fortran.
 *
 * Looked at by the routines that complete requests, and only while there are some. A request that C
 * completes keeps its copy, and what it received does not come back: docs/user-guide.md says so.
 *
 * Threads: one lock for the list. */
#include "fortran/library/section.h"

#include <pthread.h>
#include <stdlib.h>

HIDDEN void section_refresh(Section* section);
HIDDEN void section_collect(Section* section);
HIDDEN void section_free(Section* section);

typedef struct Pending {
  Section sections[kSections];
  int handle, persistent, is_file;
  struct Pending* next;
} Pending;

int sections_pending;
static Pending* list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static Pending** find(int handle, int is_file) {
  Pending** link = &list;
  while (*link != NULL && ((*link)->handle != handle || (*link)->is_file != is_file)) link = &(*link)->next;
  return link;
}

static void finish(Pending** link) {
  Pending* const pending = *link;
  *link = pending->next;
  __atomic_fetch_sub(&sections_pending, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < kSections; ++i) section_close(&pending->sections[i]);
  free(pending);
}

static void keep(Section* sections, int handle, int persistent, int is_file) {
  Pending* const pending = malloc(sizeof *pending);
  if (pending == NULL) abort();
  for (int i = 0; i < kSections; ++i) pending->sections[i] = sections[i];
  pending->handle = handle;
  pending->persistent = persistent;
  pending->is_file = is_file;
  pthread_mutex_lock(&lock);
  pending->next = list;
  list = pending;
  __atomic_fetch_add(&sections_pending, 1, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
}

void sections_keep(Section* sections, int code, int request, int persistent) {
  if (code == MPI_SUCCESS && request != (int)(intptr_t)MPI_REQUEST_NULL) {
    keep(sections, request, persistent, 0);
  } else {
    for (int i = 0; i < kSections; ++i) section_close(&sections[i]);
  }
}

void sections_keep_file(Section* sections, int code, int file) {
  if (code == MPI_SUCCESS) {
    keep(sections, file, 0, 1);
  } else {
    for (int i = 0; i < kSections; ++i) section_free(&sections[i]);
  }
}

void* sections_of_file(int file, void* array) {
  pthread_mutex_lock(&lock);
  const Pending* const pending = *find(file, 1);
  pthread_mutex_unlock(&lock);
  return pending != NULL ? pending->sections[0].copy : array;
}

void sections_end_file(int file) {
  pthread_mutex_lock(&lock);
  Pending** const link = find(file, 1);
  if (*link != NULL) finish(link);
  pthread_mutex_unlock(&lock);
}

/* Also true for a persistent request that is not active. */
static int complete(MPI_Request request) {
  int flag = 0;
  return PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag;
}

void settle(int before, MPI_Request now) {
  pthread_mutex_lock(&lock);
  Pending** const link = find(before, 0);
  if (*link != NULL && now == MPI_REQUEST_NULL) {
    finish(link);
  } else if (*link != NULL && (*link)->persistent && complete(now)) {
    for (int i = 0; i < kSections; ++i) section_collect(&(*link)->sections[i]);
  }
  pthread_mutex_unlock(&lock);
}

void collect(int request) {
  pthread_mutex_lock(&lock);
  Pending* const pending = *find(request, 0);
  for (int i = 0; pending != NULL && i < kSections; ++i) section_collect(&pending->sections[i]);
  pthread_mutex_unlock(&lock);
}

void collect_complete(int request) {
  if (complete(request_from(request))) collect(request);
}

void refresh(int request) {
  pthread_mutex_lock(&lock);
  Pending* const pending = *find(request, 0);
  for (int i = 0; pending != NULL && i < kSections; ++i) section_refresh(&pending->sections[i]);
  pthread_mutex_unlock(&lock);
}

/* A request that is freed while it is active still uses the copy, which therefore stays. */
void abandon(int request) {
  const int idle = complete(request_from(request));
  pthread_mutex_lock(&lock);
  Pending** const link = find(request, 0);
  if (*link != NULL && idle) {
    finish(link);
  } else if (*link != NULL) {
    Pending* const pending = *link;
    *link = pending->next;
    __atomic_fetch_sub(&sections_pending, 1, __ATOMIC_RELAXED);
    free(pending);
  }
  pthread_mutex_unlock(&lock);
}
