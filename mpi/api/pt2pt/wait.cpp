// SPDX-License-Identifier: BSD-3-Clause
// Blocking completion. Layer: mpi. MPI 5.0 sections 3.7.3, 3.7.5.

#include <vector>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/several.hpp"
#include "mpi/api/pt2pt/transfer.hpp"
#include "mpi/handles.hpp"
#include "mpi/process/registry.hpp"

namespace starling::mpi::api {
namespace {

/// Also of what is no active request.
bool is_done(MPI_Request handle) noexcept {
  Request* request = nullptr;
  return !find_active(handle, &request) || request == nullptr || request->done();
}

}  // namespace

int Wait(MPI_Request* request, MPI_Status* status) {
  Slot slot;
  if (const int rc = resolve(request, slot); rc != MPI_SUCCESS) return rc;
  if (slot.request == nullptr) {
    if (status != MPI_STATUS_IGNORE) set_empty(*status);
    return MPI_SUCCESS;
  }
  Runtime::get()->waits().watch(names::Wait, [&slot] { return slot.request->done(); });
  return complete(slot, status);
}

int Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  std::vector<Slot> slots;
  if (const int rc = resolve(count, array_of_requests, slots); rc != MPI_SUCCESS) return rc;
  if (none_active(slots)) return nothing_to_wait_for(index, status);
  std::size_t found = 0;
  Runtime::get()->waits().watch(names::Waitany, [&] { return find_done(slots, &found); });
  *index = static_cast<int>(found);
  return complete(slots[found], status);
}

int Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  bool done = false;
  if (const int rc = look_at_all(count, array_of_requests, &done); rc != MPI_SUCCESS) return rc;
  const Registry& process = registry();
  if (!done && process.multiple.load(std::memory_order_relaxed) && !process.lock.mine_alone()) {
    // A thread that is woken by another is woken once, for all.
    Runtime::get()->waits().watch(names::Waitall, [&, next = 0]() mutable {
      while (next < count && is_done(array_of_requests[next])) ++next;
      return next == count;
    });
  }
  return complete_all(count, array_of_requests, array_of_statuses);
}

int Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
             MPI_Status array_of_statuses[]) {
  std::vector<Slot> slots;
  if (const int rc = resolve(incount, array_of_requests, slots); rc != MPI_SUCCESS) return rc;
  if (none_active(slots)) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  std::size_t found = 0;
  Runtime::get()->waits().watch(names::Waitsome, [&] { return find_done(slots, &found); });
  return complete_some(slots, outcount, array_of_indices, array_of_statuses);
}

}  // namespace starling::mpi::api
