// SPDX-License-Identifier: BSD-3-Clause
// What the completion calls share. Layer: mpi.

#include "mpi/request/completion.hpp"

#include <string>

#include "mpi/comm/isolation.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi {

int not_live() {
  return error(MPI_ERR_REQUEST, "request is not a live request (freed twice, or never started?)");
}

/// Requests without a communicator fit everywhere: generalized ones, and sends that were done at once.
int of_one_session(MPI_Count count, const MPI_Request handles[]) {
  if (!sessions_used()) return MPI_SUCCESS;
  const Request* first = nullptr;
  MPI_Count first_index = 0;
  for (MPI_Count i = 0; i < count; ++i) {
    const Request* const request = handles[i] == MPI_REQUEST_NULL ? nullptr : find_request(handles[i]);
    if (request == nullptr || !request->comm) continue;
    if (first == nullptr) {
      first = request;
      first_index = i;
    } else if (!may_meet(*first->comm, *request->comm)) {
      const auto name = [](MPI_Count at) { return "array_of_requests[" + std::to_string(at) + "]"; };
      const int rc = of_another_session(MPI_ERR_REQUEST, name(first_index).c_str(), name(i).c_str());
      return error_on(*first->comm, rc, std::string(last_error_detail()));
    }
  }
  return MPI_SUCCESS;
}

int resolve(MPI_Count count, MPI_Request handles[], std::vector<Slot>& slots) {
  if (const int rc = of_one_session(count, handles); rc != MPI_SUCCESS) return rc;
  slots.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (resolve(&handles[i], slots[i]) != MPI_SUCCESS) return not_live(static_cast<MPI_Count>(i));
  }
  return MPI_SUCCESS;
}

int not_live(MPI_Count index) {
  return error(MPI_ERR_REQUEST, "array_of_requests[" + std::to_string(index) +
                                    "] is not a live request (freed twice, or never started?)");
}

int complete_any(MPI_Request* handle, Request& request, MPI_Status* status) {
  MPI_Status unused;
  int rc = request.result(status == MPI_STATUS_IGNORE ? unused : *status);
  if (request.operation != nullptr && status != MPI_STATUS_IGNORE) request.operation->told();
  if (request.persistent) {
    request.active = false;
    return rc;
  }
  if (request.operation != nullptr) {
    const int released = request.operation->release();
    if (rc == MPI_SUCCESS) rc = released;
  }
  request.free();
  *handle = MPI_REQUEST_NULL;
  return rc;
}

}  // namespace starling::mpi
