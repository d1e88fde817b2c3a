// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the datatype functions share: results as handles, arrays as vectors. Layer: mpi.
///
/// Threads: under the runtime's lock. Errors: MPI error classes, detail noted (mpi/error.hpp).

#include <cstdint>
#include <vector>

#include "mpi/api.gen.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/error.hpp"

namespace starling::mpi::api {

/// Stores the handle of a constructor's result, or says why there is none.
[[nodiscard]] int give(NewType made, MPI_Datatype* newtype);
[[nodiscard]] int give(Ref<Datatype> made, MPI_Datatype* newtype);

/// Copies an argument array, which may only be missing if it is empty.
[[nodiscard]] int copy_array(const char* name, IntArray values, MPI_Count count,
                             std::vector<std::int64_t>& copy);

}  // namespace starling::mpi::api
