// SPDX-License-Identifier: BSD-3-Clause
// What is said where objects of different sessions meet. Layer: mpi.

#include "mpi/comm/isolation.hpp"

#include <string>

namespace starling::mpi {

int of_another_session(int error_class, const char* argument, const char* other) {
  return error(error_class, std::string(argument) + " and " + other +
                                " are of different sessions, or one is of a session and one of MPI_Init's " +
                                "world; objects of one session can only be used together with its own");
}

}  // namespace starling::mpi
