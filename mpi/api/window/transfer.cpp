// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets. Layer: mpi. MPI 5.0 sections 12.3.1, 12.3.2, 12.3.5.

#include "mpi/onesided/transfer.hpp"

#include "mpi/api.gen.hpp"
#include "mpi/launch/launch.hpp"
#include "mpi/onesided/quick.hpp"

namespace starling::mpi::api {

namespace {

/// Between a row of bytes here and one in mapped memory by move(place there, bytes); else, and to tell what
/// is wrong, by `otherwise`, which looks at everything again.
template <class Move, class Otherwise>
[[gnu::always_inline]] inline int transfer(Win& win, const Data& origin, const Spot& place, Move move,
                                           Otherwise otherwise) {
  std::uint64_t bytes = 0;
  if (void* const there = quick_place(win, origin.count, origin.type, place, bytes)) [[likely]] {
    move(there, bytes);
    return MPI_SUCCESS;
  }
  return otherwise(win, origin, place);
}

}  // namespace

using coll::unsigned_count;

int Put(const void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Win& win) {
  const Data origin{const_cast<void*>(origin_addr), unsigned_count(origin_count), origin_datatype};
  const auto move = [&](void* there, std::uint64_t bytes) { move_row(there, origin_addr, bytes); };
  return transfer(win, origin, {target_rank, target_disp, unsigned_count(target_count), target_datatype},
                  move, put);
}

int Get(void* origin_addr, MPI_Count origin_count, Datatype& origin_datatype, int target_rank,
        MPI_Aint target_disp, MPI_Count target_count, Datatype& target_datatype, Win& win) {
  const Data origin{origin_addr, unsigned_count(origin_count), origin_datatype};
  const auto move = [&](void* there, std::uint64_t bytes) { move_row(origin_addr, there, bytes); };
  return transfer(win, origin, {target_rank, target_disp, unsigned_count(target_count), target_datatype},
                  move, get);
}

}  // namespace starling::mpi::api
