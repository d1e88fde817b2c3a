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

/// As Request::done() and give_up(), also of what is no active request.
bool is_done(MPI_Request handle) noexcept {
  Request* request = nullptr;
  return !find_active(handle, &request) || request == nullptr || request->done();
}
bool is_given_up(MPI_Request handle) noexcept {
  Request* request = nullptr;
  return !find_active(handle, &request) || request == nullptr || request->give_up();
}

/// Waits until one is done, whose index it returns; if all are hopeless, `most` of them are given up.
std::size_t wait_for_one(const char* function, const std::vector<Slot>& slots, std::size_t most) {
  Waits& waits = Runtime::get()->waits();
  std::size_t found = 0;
  const auto done = [&] { return find_done(slots, &found); };
  if (!waits.watch_shortly(done))
    waits.watch_long(function, [&] { return done() || (give_up(slots, most) && done()); });
  return found;
}

}  // namespace

int Wait(MPI_Request* request, MPI_Status* status) {
  Slot slot;
  if (const int rc = resolve(request, slot); rc != MPI_SUCCESS) return rc;
  if (slot.request == nullptr) {
    if (status != MPI_STATUS_IGNORE) set_empty(*status);
    return MPI_SUCCESS;
  }
  slot.request->wait(names::Wait);
  return complete(slot, status);
}

int Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  std::vector<Slot> slots;
  if (const int rc = resolve(count, array_of_requests, slots); rc != MPI_SUCCESS) return rc;
  if (none_active(slots)) return nothing_to_wait_for(index, status);
  const std::size_t found = wait_for_one(names::Waitany, slots, 1);
  *index = static_cast<int>(found);
  return complete(slots[found], status);
}

int Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  bool done = false;
  if (const int rc = look_at_all(count, array_of_requests, &done); rc != MPI_SUCCESS) return rc;
  if (!done && registry().lock_is_wanted()) {
    // A thread that is woken by another is woken once, for all.
    Waits& waits = Runtime::get()->waits();
    int next = 0;
    const auto all = [&](auto ended) {
      while (next < count && ended(array_of_requests[next])) ++next;
      return next == count;
    };
    FailureLook look(count, array_of_requests);
    if (!waits.watch_shortly([&] { return all(is_done); }))
      waits.watch_long(names::Waitall, [&] { return all(is_given_up) || look.failed(next); });
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
  (void)wait_for_one(names::Waitsome, slots, slots.size());
  return complete_some(slots, outcount, array_of_indices, array_of_statuses);
}

}  // namespace starling::mpi::api
