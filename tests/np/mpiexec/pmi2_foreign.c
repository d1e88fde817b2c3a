/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of somebody else's that speaks PMI 2 by Slurm's libpmi2; driven by pmi2.py.
 *
 *   pmi2_foreign            everything that the library offers and one job can use
 *   pmi2_foreign abort      rank 1 calls PMI2_Abort while the others wait in a fence
 *   pmi2_foreign silent     rank 1 ends with code 0 while the others wait in a fence
 *   */
#include <slurm/pmi2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void must(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "pmi2_foreign: rank %d: %s\n", rank, what);
  exit(3);
}

static void values(void) {
  char job[PMI2_MAX_VALLEN], key[PMI2_MAX_KEYLEN], mine[PMI2_MAX_VALLEN], got[PMI2_MAX_VALLEN + 1];
  int bytes = 0;
  must(PMI2_Job_GetId(job, sizeof job) == PMI2_SUCCESS && job[0] != '\0', "job id");
  snprintf(key, sizeof key, "key-%d", rank);
  const int begun = snprintf(mine, sizeof mine, "rank %d = value with spaces ", rank);
  memset(mine + begun, 'x', sizeof mine - (size_t)begun - 1); /* as long as a value may be */
  mine[sizeof mine - 1] = '\0';
  must(PMI2_KVS_Put(key, mine) == PMI2_SUCCESS, "put");
  must(PMI2_KVS_Fence() == PMI2_SUCCESS, "fence");
  for (int other = 0; other < size; ++other) {
    char expected[64];
    snprintf(key, sizeof key, "key-%d", other);
    snprintf(expected, sizeof expected, "rank %d = value with spaces ", other);
    must(PMI2_KVS_Get(other % 2 == 0 ? job : NULL, other, key, got, sizeof got, &bytes) == PMI2_SUCCESS,
         "get");
    must(strncmp(got, expected, strlen(expected)) == 0 && strlen(got) == PMI2_MAX_VALLEN - 1,
         "another value");
  }
  must(PMI2_KVS_Get(job, PMI2_ID_NULL, "nobody-put-this", got, sizeof got, &bytes) != PMI2_SUCCESS ||
           bytes <= 0,
       "a value from nowhere");
}

static void attributes(void) {
  char value[PMI2_MAX_ATTRVALUE];
  int found = 0, universe = 0, count = 0;
  must(PMI2_Info_GetJobAttr("PMI_process_mapping", value, sizeof value, &found) == PMI2_SUCCESS && found,
       "mapping");
  must(strncmp(value, "(vector,", 8) == 0, "what the mapping is");
  must(PMI2_Info_GetJobAttrIntArray("universeSize", &universe, 1, &count, &found) == PMI2_SUCCESS && found &&
           universe == size,
       "universe size");
  must(PMI2_Info_GetJobAttr("nosuch", value, sizeof value, &found) == PMI2_SUCCESS && !found,
       "unknown attribute");
  const char* const local = getenv("STARLING_LOCAL_RANK");
  must(local != NULL, "STARLING_LOCAL_RANK");
  if (atoi(local) == 0) {
    usleep(50000); /* the others wait for it */
    must(PMI2_Info_PutNodeAttr("shared", getenv("STARLING_NODE")) == PMI2_SUCCESS, "put of an attribute");
  }
  must(PMI2_Info_GetNodeAttr("shared", value, sizeof value, &found, 1) == PMI2_SUCCESS && found, "attribute");
  must(strcmp(value, getenv("STARLING_NODE")) == 0, "attribute of another node");
  must(PMI2_Info_GetNodeAttr("other", value, sizeof value, &found, 0) == PMI2_SUCCESS && !found,
       "unknown attribute");
}

static void names(void) {
  char port[PMI2_MAX_VALLEN] = "";
  if (rank == 0) must(PMI2_Nameserv_publish("service", NULL, "port 1") == PMI2_SUCCESS, "publish");
  must(PMI2_KVS_Fence() == PMI2_SUCCESS, "fence");
  must(PMI2_Nameserv_lookup("service", NULL, port, sizeof port) == PMI2_SUCCESS, "lookup");
  must(strcmp(port, "port 1") == 0, "another port");
  must(PMI2_Nameserv_lookup("nosuch", NULL, port, sizeof port) != PMI2_SUCCESS, "a port from nowhere");
  must(PMI2_KVS_Fence() == PMI2_SUCCESS, "fence");
  if (rank == 0) must(PMI2_Nameserv_unpublish("service", NULL) == PMI2_SUCCESS, "unpublish");
}

int main(int argc, char** argv) {
  int spawned = 0, appnum = -1, own = -1;
  must(PMI2_Init(&spawned, &size, &rank, &appnum) == PMI2_SUCCESS, "init");
  must(!spawned && appnum == 0 && PMI2_Initialized(), "what init says");
  must(PMI2_Job_GetRank(&own) == PMI2_SUCCESS && own == rank, "rank");
  if (argc > 1 && rank == 1) {
    if (strcmp(argv[1], "abort") == 0) PMI2_Abort(1, "no luck; 100 %");
    return 0;
  }
  if (argc == 1) {
    values();
    attributes();
    names();
  }
  must(PMI2_KVS_Fence() == PMI2_SUCCESS, "last fence");
  must(PMI2_Finalize() == PMI2_SUCCESS, "finalize");
  printf("%d of %d\n", rank, size);
  return 0;
}
