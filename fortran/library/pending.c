/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of operations that go on after the call, until their request completes. Layer: fortran.
 *
 * Looked at by the routines that make and complete requests, and only while there are some. A request that C
 * completes keeps its copy, and what it received does not come back: docs/user-guide.md says so. Its entry
 * goes when Fortran gets a request of the same handle, which would bring the stale copy back otherwise.
 *
 * Threads: one lock for the list. */
#include "fortran/library/section.h"

#include <pthread.h>
#include <stdlib.h>

HIDDEN void section_refresh(Section* section);
HIDDEN void section_collect(Section* section);
HIDDEN void section_free(Section* section);

struct Pending {
  Section sections[kSections];
  int handle, persistent, is_file;
  int awaited; /* how many calls may complete it just now; its handle may be another's when they come back */
  struct Pending* next;
};

int sections_pending;
static Pending* list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What a call may complete just now is that call's alone: MPI_Waitall ends each request as it is done and
 * goes on to wait, and another thread may have a request of that handle by then. Persistent ones keep
 * theirs. */
static int is_of(const Pending* pending, int handle, int is_file) {
  return pending->handle == handle && pending->is_file == is_file &&
         (pending->awaited == 0 || pending->persistent);
}

static Pending** find(int handle, int is_file) {
  Pending** link = &list;
  while (*link != NULL && !is_of(*link, handle, is_file)) link = &(*link)->next;
  return link;
}

/* Taken off the list, and the caller's. */
static Pending* taken(Pending** link) {
  Pending* const pending = *link;
  *link = pending->next;
  __atomic_fetch_sub(&sections_pending, 1, __ATOMIC_RELAXED);
  return pending;
}

static void finish(Pending** link) {
  Pending* const pending = taken(link);
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
  pending->awaited = 0;
  pthread_mutex_lock(&lock);
  pending->next = list;
  list = pending;
  __atomic_fetch_add(&sections_pending, 1, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
}

/* Also true for a persistent request that is not active. */
static int complete(MPI_Request request) {
  int flag = 0;
  return PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag;
}

/* What is complete already is not kept: several operations that were done at once may share one handle. */
void sections_keep(Section* sections, int code, int request, int persistent) {
  const int is_request = code == MPI_SUCCESS && request != (int)(intptr_t)MPI_REQUEST_NULL;
  if (is_request && (persistent || !complete(request_from(request)))) {
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

Pending* await(int request) {
  pthread_mutex_lock(&lock);
  Pending* const pending = *find(request, 0);
  if (pending != NULL) ++pending->awaited;
  pthread_mutex_unlock(&lock);
  return pending;
}

void settle(Pending* pending, MPI_Request now) {
  pthread_mutex_lock(&lock);
  --pending->awaited;
  if (now == MPI_REQUEST_NULL) {
    Pending** link = &list;
    while (*link != pending) link = &(*link)->next;
    finish(link);
  } else if (pending->persistent && complete(now)) {
    for (int i = 0; i < kSections; ++i) section_collect(&pending->sections[i]);
  }
  pthread_mutex_unlock(&lock);
}

Pending** await_all(const int* requests, int n) {
  Pending** const pending = malloc((size_t)n * sizeof *pending);
  int found = 0;
  if (pending == NULL && n > 0) abort();
  for (int i = 0; i < n; ++i) found += (pending[i] = await(requests[i])) != NULL;
  if (found != 0) return pending;
  free(pending);
  return NULL;
}

void settle_all(Pending** pending, const MPI_Request* now, int n) {
  for (int i = 0; i < n; ++i) {
    if (pending[i] != NULL) settle(pending[i], now[i]);
  }
  free(pending);
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

/* The copy stays: a request that was freed while it was active still uses it. */
static void leave(Pending** link) { free(taken(link)); }

void abandon(int request) {
  const int idle = complete(request_from(request));
  pthread_mutex_lock(&lock);
  Pending** const link = find(request, 0);
  if (*link != NULL) (idle ? finish : leave)(link);
  pthread_mutex_unlock(&lock);
}

/* C has completed it, or freed it while it was active; or another thread's call has, and settles it next. */
void forget(int request) {
  pthread_mutex_lock(&lock);
  Pending** const link = find(request, 0);
  if (*link != NULL && (*link)->awaited == 0) leave(link);
  pthread_mutex_unlock(&lock);
}
