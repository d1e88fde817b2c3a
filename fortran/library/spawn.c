/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting processes: the commands' arguments are arrays of strings that a blank one ends. Layer: fortran.
 * MPI 5.0, 11.8. */
#include "fortran/library/support.h"

#include <stdlib.h>
#include <string.h>

static void* allocate(size_t count, size_t size) {
  void* const at = calloc(count, size);
  if (at == NULL) abort();
  return at;
}

static char* copied(const char* from, size_t width) {
  const size_t used = text_length(from, width);
  char* const at = allocate(used + 1, 1);
  memcpy(at, from, used);
  return at;
}

/* Every `stride`-th string of `width` characters, up to a blank one. */
static char** arguments(const char* from, size_t width, size_t stride) {
  size_t count = 0;
  while (text_length(from + count * stride * width, width) > 0) ++count;
  char** const list = allocate(count + 1, sizeof(char*));
  for (size_t i = 0; i < count; ++i) list[i] = copied(from + i * stride * width, width);
  return list;
}

static void free_list(char** list) {
  if (list == NULL) return;
  for (char** at = list; *at != NULL; ++at) free(*at);
  free(list);
}

static int at_root(int root, const int* comm) {
  int rank = MPI_PROC_NULL;
  return PMPI_Comm_rank(comm_from(*comm), &rank) == MPI_SUCCESS && rank == root;
}

static int* errcodes(int* codes) {
  return codes == starling_mpi_sentinels_.errcodes_ignore ? MPI_ERRCODES_IGNORE : codes;
}

void pmpi_comm_spawn_(char* command, char* argv, int* maxprocs, int* info, int* root, int* comm,
                      int* intercomm, int* array_of_errcodes, int* ierror, size_t command_len,
                      size_t argv_len) {
  MPI_Comm made = MPI_COMM_NULL;
  const int mine = at_root(*root, comm);
  char* const command_ = mine ? copied(command, command_len) : NULL;
  char** const argv_ =
      mine && argv != starling_mpi_texts_.argv_null ? arguments(argv, argv_len, 1) : MPI_ARGV_NULL;
  const int code =
      PMPI_Comm_spawn(command_, argv_, mine ? *maxprocs : 0, mine ? info_from(*info) : MPI_INFO_NULL, *root,
                      comm_from(*comm), &made, errcodes(array_of_errcodes));
  if (code == MPI_SUCCESS) *intercomm = comm_to(made);
  free(command_);
  free_list(argv_);
  GIVE(ierror, code);
}
NAMES(comm_spawn)

void pmpi_comm_spawn_multiple_(int* count, char* array_of_commands, char* array_of_argv,
                               int* array_of_maxprocs, int* array_of_info, int* root, int* comm,
                               int* intercomm, int* array_of_errcodes, int* ierror, size_t command_len,
                               size_t argv_len) {
  MPI_Comm made = MPI_COMM_NULL;
  const int n = at_root(*root, comm) ? length(*count) : 0;
  const int with_arguments = array_of_argv != starling_mpi_texts_.argvs_null;
  char** const commands = allocate((size_t)n + 1, sizeof(char*));
  char*** const argvs = allocate((size_t)n + 1, sizeof(char**));
  MPI_Info* const infos = allocate((size_t)n + 1, sizeof(MPI_Info));
  for (int i = 0; i < n; ++i) {
    commands[i] = copied(array_of_commands + (size_t)i * command_len, command_len);
    if (with_arguments) argvs[i] = arguments(array_of_argv + (size_t)i * argv_len, argv_len, (size_t)n);
    infos[i] = info_from(array_of_info[i]);
  }
  const int code =
      PMPI_Comm_spawn_multiple(n, commands, with_arguments ? argvs : MPI_ARGVS_NULL, array_of_maxprocs, infos,
                               *root, comm_from(*comm), &made, errcodes(array_of_errcodes));
  if (code == MPI_SUCCESS) *intercomm = comm_to(made);
  for (int i = 0; i < n; ++i) free_list(argvs[i]);
  free_list(commands);
  free(argvs);
  free(infos);
  GIVE(ierror, code);
}
NAMES(comm_spawn_multiple)
