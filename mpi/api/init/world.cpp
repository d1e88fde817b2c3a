// SPDX-License-Identifier: BSD-3-Clause
// The world model: initialise, finalize, abort, thread levels. Layer: mpi. MPI 5.0 sections 11.2, 11.6, 9.7.

#include <pthread.h>

#include <algorithm>
#include <string>

#include "mpi/api.gen.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/error.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/world/world.hpp"

namespace starling::mpi::api {
namespace {

/// Any level up to MULTIPLE is provided; a level between two of them is the next higher one.
int provided_level(int required) {
  for (const int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED}) {
    if (required <= level) return level;
  }
  return MPI_THREAD_MULTIPLE;
}

}  // namespace

int Init(int*, char***) { return start_world(MPI_THREAD_SINGLE, nullptr); }

int Init_thread(int*, char***, int required, int* provided) {
  return start_world(provided_level(required), provided);
}

int Finalize() { return stop_world(); }

int Initialized(int* flag) {
  *flag = world().initialised ? 1 : 0;
  return MPI_SUCCESS;
}

int Finalized(int* flag) {
  *flag = world().finalized ? 1 : 0;
  return MPI_SUCCESS;
}

int Query_thread(int* provided) {
  *provided = world().thread_level;
  return MPI_SUCCESS;
}

int Is_thread_main(int* flag) {
  *flag = world().initialised && ::pthread_equal(world().main_thread, ::pthread_self()) != 0 ? 1 : 0;
  return MPI_SUCCESS;
}

int Abort(Comm& comm, int errorcode) {
  Runtime& runtime = *Runtime::get();
  const std::string who =
      "rank " + std::to_string(comm.rank()) + " of " + (comm.name.empty() ? "a communicator" : comm.name);
  // An exit status has 8 bits; an error code that would become 0 must not look like success.
  const int status = (errorcode & 0xff) != 0 ? errorcode & 0xff : (errorcode == 0 ? 0 : 1);
  runtime.abort(status, std::string(names::Abort) + "(" + std::to_string(errorcode) + ") called by " + who);
}

}  // namespace starling::mpi::api
