// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Completion of several requests at once. Layer: mpi. MPI 5.0 section 3.7.5.

#include <cstdint>
#include <vector>

#include "mpi.h"
#include "mpi/request/completion.hpp"

namespace starling::mpi {

/// No slot holds an active request.
[[nodiscard]] bool none_active(const std::vector<Slot>& slots) noexcept;
/// Index of the first completed one.
[[nodiscard]] bool find_done(const std::vector<Slot>& slots, std::size_t* index) noexcept;
[[nodiscard]] bool all_done(const std::vector<Slot>& slots) noexcept;
/// If all are hopeless (mpi/request/request.hpp): ends the first `most` with errors. Whether it did.
bool give_up(const std::vector<Slot>& slots, std::size_t most) noexcept;

/// index = MPI_UNDEFINED and an empty status.
[[nodiscard]] int nothing_to_wait_for(int* index, MPI_Status* status);
/// Whether all operations of an array are done; MPI_ERR_REQUEST, with its index, for what is no live request.
[[nodiscard]] int look_at_all(MPI_Count count, MPI_Request handles[], bool* done);
/// Looks now and then, in a wait for several operations, whether one of them has failed here (fault.hpp).
class FailureLook {
 public:
  FailureLook(MPI_Count count, const MPI_Request* handles) noexcept : count_(count), handles_(handles) {}
  /// Whether one has, of those at `from` and behind it; true from then on.
  [[nodiscard]] bool failed(MPI_Count from) noexcept;

 private:
  MPI_Count count_;
  const MPI_Request* handles_;
  std::uint64_t next_ns_ = 0;
  bool failed_ = false;
};
/// Waits for each in turn and completes it; MPI_ERR_IN_STATUS if any ended with an error, each status then
/// has its own. Once one has failed here, those that are not done are MPI_ERR_PENDING.
[[nodiscard]] int complete_all(MPI_Count count, MPI_Request handles[], MPI_Status statuses[]);
/// Completes those that are done.
[[nodiscard]] int complete_some(std::vector<Slot>& slots, int* outcount, int indices[],
                                MPI_Status statuses[]);

}  // namespace starling::mpi
