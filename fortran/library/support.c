/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentinels, room for converted arrays, and the lengths that only the library knows. Layer: fortran. */
#include "fortran/library/support.h"

#include <stdlib.h>

/* Programs with mpif.h bring the blocks, too; the loader lets all use one. */
Sentinels starling_mpi_sentinels_;
TextSentinels starling_mpi_texts_;

void* sentinel_address(void* buffer) {
  if (buffer == &starling_mpi_sentinels_.bottom) return MPI_BOTTOM;
  if (buffer == &starling_mpi_sentinels_.in_place) return MPI_IN_PLACE;
  if (buffer == &starling_mpi_sentinels_.buffer_automatic) return MPI_BUFFER_AUTOMATIC;
  return buffer;
}

void* room(int count, size_t size, void* few) {
  void* at = few;
  if (count > kFew && (at = malloc((size_t)count * size)) == NULL) abort();
  return at;
}

void give_back(void* at, void* few) {
  if (at != few) free(at);
}

int cart_dimensions(const int* comm) {
  int dimensions = 0;
  return PMPI_Cartdim_get(comm_from(*comm), &dimensions) == MPI_SUCCESS ? dimensions : 0;
}

int peers(const int* comm) {
  const MPI_Comm handle = comm_from(*comm);
  int size = 0, inter = 0;
  if (PMPI_Comm_test_inter(handle, &inter) != MPI_SUCCESS) return 0;
  if (inter) return PMPI_Comm_remote_size(handle, &size) == MPI_SUCCESS ? size : 0;
  return PMPI_Comm_size(handle, &size) == MPI_SUCCESS ? size : 0;
}

/* The neighbours that a process receives from and sends to (MPI 5.0, 8.6). */
static void neighbours(MPI_Comm comm, int* in, int* out) {
  int kind = MPI_UNDEFINED, rank = 0, weighted = 0;
  *in = *out = 0;
  if (PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return;
  if (kind == MPI_CART && PMPI_Cartdim_get(comm, in) == MPI_SUCCESS) *in = *out = 2 * *in;
  if (kind == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors_count(comm, in, out, &weighted);
  if (kind == MPI_GRAPH && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS &&
      PMPI_Graph_neighbors_count(comm, rank, in) == MPI_SUCCESS) {
    *out = *in;
  }
}

int sent(const int* comm) {
  int in, out;
  neighbours(comm_from(*comm), &in, &out);
  return out;
}

int received(const int* comm) {
  int in, out;
  neighbours(comm_from(*comm), &in, &out);
  return in;
}
