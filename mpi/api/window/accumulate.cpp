// SPDX-License-Identifier: BSD-3-Clause
// Accumulates and atomic operations. Layer: mpi. MPI 5.0 section 12.3.4.

#include "mpi/onesided/accumulate.hpp"

#include "mpi/api.gen.hpp"
#include "mpi/error.hpp"
#include "mpi/launch/launch.hpp"

namespace starling::mpi::api {

using coll::unsigned_count;

namespace {

int not_predefined(const Datatype& type) {
  return error(MPI_ERR_TYPE, "datatype " + type.name + " is derived, expected a predefined one");
}

}  // namespace

int Accumulate(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Op& op, Win& win) {
  return accumulate(win, {const_cast<void*>(origin_addr), unsigned_count(origin_count), origin_datatype},
                    nullptr, {target_rank, target_disp, unsigned_count(target_count), target_datatype}, op);
}

int Get_accumulate(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype,
                   void* result_addr, MPI_Count result_count, Datatype& result_datatype, int target_rank,
                   MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Op& op,
                   Win& win) {
  const Data result{result_addr, unsigned_count(result_count), result_datatype};
  return accumulate(win, {const_cast<void*>(origin_addr), unsigned_count(origin_count), origin_datatype},
                    &result, {target_rank, target_disp, unsigned_count(target_count), target_datatype}, op);
}

int Fetch_and_op(const void* origin_addr, void* result_addr, Datatype& datatype, int target_rank,
                 MPI_Aint target_disp, Op& op, Win& win) {
  if (datatype.basic() == Basic::none) return not_predefined(datatype);
  const Data result{result_addr, 1, datatype};
  return accumulate(win, {const_cast<void*>(origin_addr), 1, datatype}, &result,
                    {target_rank, target_disp, 1, datatype}, op);
}

int Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr, Datatype& datatype,
                     int target_rank, MPI_Aint target_disp, Win& win) {
  if (datatype.basic() == Basic::none) return not_predefined(datatype);
  return compare_and_swap(win, origin_addr, compare_addr, result_addr,
                          {target_rank, target_disp, 1, datatype});
}

}  // namespace starling::mpi::api
