// SPDX-License-Identifier: BSD-3-Clause
// Epochs among some members. Layer: mpi. MPI 5.0 section 12.5.2.

#include "mpi/onesided/post_start.hpp"

#include "mpi/api.gen.hpp"

namespace starling::mpi::api {

int Win_post(Group& group, int assert, Win& win) { return post_exposure(win, group, assert); }

int Win_start(Group& group, int assert, Win& win) { return start_access(win, group, assert); }

int Win_complete(Win& win) { return complete_access(win); }

int Win_wait(Win& win) { return wait_exposure(win); }

int Win_test(Win& win, int* flag) {
  bool ended = false;
  const int rc = test_exposure(win, ended);
  *flag = ended ? 1 : 0;
  return rc;
}

}  // namespace starling::mpi::api
