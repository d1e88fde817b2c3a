// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets. Layer: mpi. MPI 5.0 sections 12.3.1, 12.3.2, 12.3.5.

#include "mpi/onesided/transfer.hpp"

#include "mpi/api.gen.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/onesided/quick.hpp"

namespace starling::mpi::api {

using coll::unsigned_count;

int Put(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Win& win) {
  const Spot place{target_rank, target_disp, unsigned_count(target_count), target_datatype};
  std::uint64_t bytes = 0;
  if (void* const at = quick_place(win, unsigned_count(origin_count), origin_datatype, place, bytes))
      [[likely]] {
    move_row(at, origin_addr, bytes);
    return MPI_SUCCESS;
  }
  return put(win, {const_cast<void*>(origin_addr), unsigned_count(origin_count), origin_datatype}, place);
}

int Get(void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Win& win) {
  const Spot place{target_rank, target_disp, unsigned_count(target_count), target_datatype};
  std::uint64_t bytes = 0;
  if (void* const at = quick_place(win, unsigned_count(origin_count), origin_datatype, place, bytes))
      [[likely]] {
    move_row(origin_addr, at, bytes);
    return MPI_SUCCESS;
  }
  return get(win, {origin_addr, unsigned_count(origin_count), origin_datatype}, place);
}

}  // namespace starling::mpi::api
