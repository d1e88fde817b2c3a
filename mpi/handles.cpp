// SPDX-License-Identifier: BSD-3-Clause
// Where the tables are. Layer: mpi.

#include "mpi/handles.hpp"

#include <type_traits>

namespace starling::mpi {

constinit Tables the_tables;
static_assert(std::is_trivially_destructible_v<Tables>, "handles are looked up until the process ends");

}  // namespace starling::mpi
