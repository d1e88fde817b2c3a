// SPDX-License-Identifier: BSD-3-Clause
// Looking at requests without ending them. Layer: mpi. MPI 5.0 section 3.7.6.
// The request stays as it is; an operation's error is given by the call that completes it.

#include <vector>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/several.hpp"
#include "mpi/api/pt2pt/transfer.hpp"

namespace starling::mpi::api {
namespace {

/// Status of a completed request, or the empty one for a slot without an active request.
void look(const Slot& slot, MPI_Status* status) {
  MPI_Status unused;
  MPI_Status& target = status == MPI_STATUS_IGNORE ? unused : *status;
  if (slot.request == nullptr) {
    set_empty(target);
  } else {
    (void)slot.request->result(target);
  }
}

int resolve_all(MPI_Count count, const MPI_Request handles[], std::vector<Slot>& slots) {
  return resolve(count, const_cast<MPI_Request*>(handles), slots);  // they are not changed here
}

MPI_Status* nth(MPI_Status statuses[], std::size_t index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

}  // namespace

int Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  Slot slot;
  if (const int rc = resolve(&request, slot); rc != MPI_SUCCESS) return rc;
  const auto done = [&] { return slot.request == nullptr || slot.request->done(); };
  *flag = done() || Runtime::get()->waits().poll_until(names::Request_get_status, done) ? 1 : 0;
  if (*flag != 0) look(slot, status);
  return MPI_SUCCESS;
}

int Request_get_status_any(int count, const MPI_Request array_of_requests[], int* indx, int* flag,
                           MPI_Status* status) {
  std::vector<Slot> slots;
  if (const int rc = resolve_all(count, array_of_requests, slots); rc != MPI_SUCCESS) return rc;
  *flag = 1;
  if (none_active(slots)) return nothing_to_wait_for(indx, status);
  std::size_t found = 0;
  const auto look_for_one = [&] { return find_done(slots, &found); };
  if (!look_for_one() && !Runtime::get()->waits().poll_until(names::Request_get_status_any, look_for_one)) {
    *flag = 0;
    *indx = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  *indx = static_cast<int>(found);
  look(slots[found], status);
  return MPI_SUCCESS;
}

int Request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
                           MPI_Status* array_of_statuses) {
  std::vector<Slot> slots;
  if (const int rc = resolve_all(count, array_of_requests, slots); rc != MPI_SUCCESS) return rc;
  const auto done = [&] { return all_done(slots); };
  *flag = done() || Runtime::get()->waits().poll_until(names::Request_get_status_all, done) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  for (std::size_t i = 0; i < slots.size(); ++i) look(slots[i], nth(array_of_statuses, i));
  return MPI_SUCCESS;
}

int Request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
                            int array_of_indices[], MPI_Status* array_of_statuses) {
  std::vector<Slot> slots;
  if (const int rc = resolve_all(incount, array_of_requests, slots); rc != MPI_SUCCESS) return rc;
  if (none_active(slots)) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  (void)Runtime::get()->waits().poll_until(names::Request_get_status_some, [&] { return all_done(slots); });
  std::size_t done = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].request == nullptr || !slots[i].request->done()) continue;
    look(slots[i], nth(array_of_statuses, done));
    array_of_indices[done++] = static_cast<int>(i);
  }
  *outcount = static_cast<int>(done);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
