// SPDX-License-Identifier: BSD-3-Clause
// The table of error classes. Layer: mpi.

#include "mpi/error_class.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "mpi.h"

namespace starling::mpi {
namespace {

/// One thing that can go wrong, as set-up says it, as a message says it, and as the program is told.
struct Row {
  std::optional<Errc> code;
  std::optional<peer::Fault> fault;
  int error_class;
};

constexpr Row kRows[] = {
    {{}, peer::Fault::none, MPI_SUCCESS},
    {{}, peer::Fault::truncated, MPI_ERR_TRUNCATE},
    {{}, peer::Fault::unreachable, MPI_ERR_OTHER},  // no transport ever reached it
    {Errc::unreachable, {}, MPI_ERR_PROC_ABORTED},  // one did, and broke: its messages are lost with the peer
    {Errc::peer_lost, peer::Fault::peer_lost, MPI_ERR_PROC_ABORTED},
    {Errc::peer_left, peer::Fault::peer_left, MPI_ERR_PROC_ABORTED},
    {Errc::no_space, peer::Fault::no_memory, MPI_ERR_NO_MEM},
    {Errc::internal, peer::Fault::internal, MPI_ERR_INTERN},
    {Errc::not_found, {}, MPI_ERR_NAME},
    {Errc::unsupported, {}, MPI_ERR_UNSUPPORTED_OPERATION},
    {Errc::bad_parameter, {}, MPI_ERR_OTHER},
    {Errc::bad_input, {}, MPI_ERR_OTHER},
    {Errc::timed_out, {}, MPI_ERR_OTHER},
    {Errc::denied, {}, MPI_ERR_OTHER},
    {Errc::system, {}, MPI_ERR_OTHER},
};

template <class Test>
int class_where(Test test) noexcept {
  const Row* const found = std::find_if(std::begin(kRows), std::end(kRows), test);
  return found == std::end(kRows) ? MPI_ERR_INTERN : found->error_class;
}

}  // namespace

int error_class(Errc code) noexcept {
  return class_where([code](const Row& row) { return row.code == code; });
}

int fault_class(peer::Fault fault) noexcept {
  return class_where([fault](const Row& row) { return row.fault == fault; });
}

}  // namespace starling::mpi
