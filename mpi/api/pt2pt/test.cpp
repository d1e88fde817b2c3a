// SPDX-License-Identifier: BSD-3-Clause
// Completion without waiting. Each call takes what the transports have. Layer: mpi. MPI 5.0
// sections 3.7.3, 3.7.5.

#include <vector>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/several.hpp"
#include "mpi/api/pt2pt/transfer.hpp"

namespace starling::mpi::api {

int Test(MPI_Request* request, int* flag, MPI_Status* status) {
  Slot slot;
  if (const int rc = resolve(request, slot); rc != MPI_SUCCESS) return rc;
  if (slot.request == nullptr) {
    *flag = 1;
    if (status != MPI_STATUS_IGNORE) set_empty(*status);
    return MPI_SUCCESS;
  }
  const auto done = [&] { return slot.request->done(); };
  *flag = done() || Runtime::get()->waits().poll_until(names::Test, done) ? 1 : 0;
  return *flag != 0 ? complete(slot, status) : MPI_SUCCESS;
}

int Testany(int count, MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status) {
  std::vector<Slot> slots;
  if (const int rc = resolve(count, array_of_requests, slots); rc != MPI_SUCCESS) return rc;
  *flag = 1;
  if (none_active(slots)) return nothing_to_wait_for(index, status);
  std::size_t found = 0;
  if (!Runtime::get()->waits().poll_until(names::Testany, [&] { return find_done(slots, &found); })) {
    *flag = 0;
    *index = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  *index = static_cast<int>(found);
  return complete(slots[found], status);
}

int Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]) {
  bool done = false;
  int rc = MPI_SUCCESS;
  const auto look = [&] {
    rc = look_at_all(count, array_of_requests, &done);
    return done || rc != MPI_SUCCESS;
  };
  if (!look()) (void)Runtime::get()->waits().poll_until(names::Testall, look);
  if (rc != MPI_SUCCESS) return rc;
  *flag = done ? 1 : 0;
  return done ? complete_all(count, array_of_requests, array_of_statuses) : MPI_SUCCESS;
}

int Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
             MPI_Status array_of_statuses[]) {
  std::vector<Slot> slots;
  if (const int rc = resolve(incount, array_of_requests, slots); rc != MPI_SUCCESS) return rc;
  if (none_active(slots)) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  (void)Runtime::get()->waits().poll_until(names::Testsome, [&] { return all_done(slots); });
  return complete_some(slots, outcount, array_of_indices, array_of_statuses);
}

}  // namespace starling::mpi::api
