// SPDX-License-Identifier: BSD-3-Clause
// A program in C++ whose error handler throws: the exception passes through our frames to the caller,
// and MPI works on.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>

static void throw_it(MPI_Comm*, int* code, ...) { throw std::runtime_error(std::to_string(*code)); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(&throw_it, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  int size = 0, one = 1, sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool caught = false;
  try {
    MPI_Send(&one, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  } catch (const std::runtime_error& error) {
    caught = std::stoi(error.what()) != MPI_SUCCESS;
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (!caught || sum != size) std::fprintf(stderr, "caught %d, sum %d of %d\n", caught, sum, size);
  MPI_Finalize();
  return caught && sum == size ? 0 : 1;
}
