// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The predefined datatypes of the ABI. Layer: mpi. MPI 5.0 sections 3.2.2, 6.9.4 and appendix A.
///
/// Threads:   the table is built at the first look-up and never changes; look-ups from any thread.
/// Ownership: the process's; they are never freed.

#include <string_view>
#include <vector>

#include "mpi/datatype/datatype.hpp"

namespace starling::mpi {

/// The type behind a predefined constant (0x201 ... 0x2ff); null if there is none (MPI_DATATYPE_NULL too).
[[nodiscard]] Datatype* predefined_datatype(HandleBits handle) noexcept;
/// All of them, in the order of their constants.
[[nodiscard]] std::vector<Datatype*> predefined_datatypes();

/// The predefined type for the rest of the library, by its ABI constant.
namespace builtin {
inline constexpr HandleBits kByte = 0x247, kInt = 0x209, kPacked = 0x207, kChar = 0x243, kDouble = 0x214;
}

}  // namespace starling::mpi
