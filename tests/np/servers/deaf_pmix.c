/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into ranks under a real PMIx server: what pmi/pmix finds in libpmix goes through here. Questions
 * for the values of other ranks are swallowed on the ranks that DEAF_RANKS lists ("all": on each), until the
 * rank has entered a fence of all; NODES_OF_JOB is what the launcher says about nodes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

static pmix_status_t (*real_get)(const pmix_proc_t*, const char*, const pmix_info_t*, size_t, pmix_value_t**);
static pmix_status_t (*real_get_nb)(const pmix_proc_t*, const char*, const pmix_info_t*, size_t,
                                    pmix_value_cbfunc_t, void*);
static pmix_status_t (*real_fence_nb)(const pmix_proc_t*, size_t, const pmix_info_t*, size_t,
                                      pmix_op_cbfunc_t, void*);
static int fenced;

static int is_deaf(void) {
  const char* list = getenv("DEAF_RANKS");
  const char* const rank = getenv("PMIX_RANK");
  if (fenced || list == NULL || rank == NULL) return 0;
  if (strcmp(list, "all") == 0) return 1;
  for (; *list != '\0'; list += strcspn(list, ","), list += *list == ',') {
    if (strtol(list, NULL, 10) == strtol(rank, NULL, 10)) return 1;
  }
  return 0;
}

static pmix_status_t get(const pmix_proc_t* proc, const char* key, const pmix_info_t* info, size_t infos,
                         pmix_value_t** value) {
  const char* const nodes = getenv("NODES_OF_JOB");
  if (nodes == NULL || strcmp(key, PMIX_ANL_MAP) != 0) return real_get(proc, key, info, infos, value);
  *value = calloc(1, sizeof **value);
  (*value)->type = PMIX_STRING;
  (*value)->data.string = strdup(nodes);
  return PMIX_SUCCESS;
}

static pmix_status_t get_nb(const pmix_proc_t* proc, const char* key, const pmix_info_t* info, size_t infos,
                            pmix_value_cbfunc_t done, void* cbdata) {
  return is_deaf() ? PMIX_SUCCESS : real_get_nb(proc, key, info, infos, done, cbdata);
}

static pmix_status_t fence_nb(const pmix_proc_t* procs, size_t count, const pmix_info_t* info, size_t infos,
                              pmix_op_cbfunc_t done, void* cbdata) {
  fenced = 1;
  return real_fence_nb(procs, count, info, infos, done, cbdata);
}

/* pmi/pmix opens libpmix by itself, so this is where its functions can be exchanged. */
void* dlsym(void* library, const char* name) {
  static void* (*real)(void*, const char*);
  if (real == NULL) {
    *(void**)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (real == NULL) *(void**)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (real == NULL) abort();
  }
  void* const found = real(library, name);
  if (strcmp(name, "PMIx_Get") == 0) {
    *(void**)&real_get = found;
    return (void*)&get;
  }
  if (strcmp(name, "PMIx_Get_nb") == 0) {
    *(void**)&real_get_nb = found;
    return (void*)&get_nb;
  }
  if (strcmp(name, "PMIx_Fence_nb") == 0) {
    *(void**)&real_fence_nb = found;
    return (void*)&fence_nb;
  }
  return found;
}
