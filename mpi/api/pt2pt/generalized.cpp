// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests: operations that the application progresses and MPI waits for. Layer: mpi. MPI 5.0
// section 13.2.

#include <memory>

#include "mpi/api.gen.hpp"
#include "mpi/api/pt2pt/transfer.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/request/request.hpp"

namespace starling::mpi::api {
namespace {

/// The user's callbacks. They run under the runtime's lock, which is recursive, and may call MPI.
class Generalized final : public Operation {
 public:
  Generalized(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
              MPI_Grequest_cancel_function* cancel_fn, void* extra)
      : query_(query_fn), free_(free_fn), cancel_(cancel_fn), extra_(extra) {}

  int start(Request&) override { return MPI_SUCCESS; }
  int progress() noexcept override { return 0; }
  int finish(MPI_Status& status) override {
    return query_ != nullptr ? query_(extra_, &status) : MPI_SUCCESS;
  }
  int cancel(bool complete) override {
    return cancel_ != nullptr ? cancel_(extra_, complete ? 1 : 0) : MPI_SUCCESS;
  }
  int release() override { return free_ != nullptr ? free_(extra_) : MPI_SUCCESS; }
  bool ended_by_user() const noexcept override { return true; }

 private:
  MPI_Grequest_query_function* query_;
  MPI_Grequest_free_function* free_;
  MPI_Grequest_cancel_function* cancel_;
  void* extra_;
};

}  // namespace

int Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                   MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
  Request* const made = Request::make(Request::Form::operation);
  made->operation = std::make_unique<Generalized>(query_fn, free_fn, cancel_fn, extra_state);
  return start_into(made, request);
}

int Grequest_complete(MPI_Request request) {
  Request* const found = request == MPI_REQUEST_NULL ? nullptr : find_request(request);
  if (found == nullptr) return error(MPI_ERR_REQUEST, "request is not a live request");
  if (found->operation == nullptr || !found->operation->ended_by_user())
    return error(MPI_ERR_REQUEST, "request is not a generalized one (MPI_Grequest_start)");
  if (found->done()) return error(MPI_ERR_REQUEST, "request has been completed already");
  found->core.complete.store(true, std::memory_order_release);
  if (found->detached) {  // MPI_Request_free came first: nobody will ask for it again
    const int rc = found->operation->release();
    found->free();
    return rc;
  }
  Runtime::get()->polling().wake();
  return MPI_SUCCESS;
}

}  // namespace starling::mpi::api
