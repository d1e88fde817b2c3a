// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations with a request. Layer: mpi. MPI 5.0 section 12.3.5.
//
// An operation on memory that this process reaches is done when its call returns, so the request is one that
// is complete. It has to be waited for all the same.

#include "mpi/request/request.hpp"
#include "mpi/api.gen.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/onesided/accumulate.hpp"
#include "mpi/onesided/operations.hpp"
#include "mpi/onesided/synchronise.hpp"
#include "mpi/onesided/transfer.hpp"

namespace starling::mpi::api {

using coll::unsigned_count;

namespace {

/// Runs the operation, if a lock is held: these are for passive targets only.
template <class Operation>
int with_request(Win& win, int target, MPI_Request* request, Operation&& operation) {
  *request = MPI_REQUEST_NULL;
  if (const int rc = check_target(win, target); rc != MPI_SUCCESS) return rc;
  if (target != MPI_PROC_NULL) {
    if (const int rc = check_passive(win, static_cast<std::uint32_t>(target)); rc != MPI_SUCCESS) return rc;
  }
  const int rc = operation();
  if (rc != MPI_SUCCESS) return rc;
  const bool moves =
      target != MPI_PROC_NULL && win.target(static_cast<std::uint32_t>(target)).path == Path::message;
  *request = moves ? message::request_of_last(win, static_cast<std::uint32_t>(target))
                   : as_handle<MPI_Request>(Request::moved().handle());
  return MPI_SUCCESS;
}

}  // namespace

int Rput(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
         MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Win& win,
         MPI_Request* request) {
  return with_request(win, target_rank, request, [&] {
    return put(win, {const_cast<void*>(origin_addr), unsigned_count(origin_count), origin_datatype},
               {target_rank, target_disp, unsigned_count(target_count), target_datatype});
  });
}

int Rget(void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
         MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Win& win,
         MPI_Request* request) {
  return with_request(win, target_rank, request, [&] {
    return get(win, {origin_addr, unsigned_count(origin_count), origin_datatype},
               {target_rank, target_disp, unsigned_count(target_count), target_datatype});
  });
}

int Raccumulate(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
                MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Op& op, Win& win,
                MPI_Request* request) {
  return with_request(win, target_rank, request, [&] {
    return accumulate(win, {const_cast<void*>(origin_addr), unsigned_count(origin_count), origin_datatype},
                      nullptr, {target_rank, target_disp, unsigned_count(target_count), target_datatype}, op);
  });
}

int Rget_accumulate(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype,
                    void* result_addr, MPI_Count result_count, Datatype& result_datatype, int target_rank,
                    MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Op& op, Win& win,
                    MPI_Request* request) {
  const Data result{result_addr, unsigned_count(result_count), result_datatype};
  return with_request(win, target_rank, request, [&] {
    return accumulate(win, {const_cast<void*>(origin_addr), unsigned_count(origin_count), origin_datatype},
                      &result, {target_rank, target_disp, unsigned_count(target_count), target_datatype}, op);
  });
}

}  // namespace starling::mpi::api
