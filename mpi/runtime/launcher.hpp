// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Whether the launcher of this job is still there. Layer: mpi. docs/design/waiting.md
///
/// Threads: under the runtime's lock.
/// Errors:  none is returned: without its launcher the process ends, with a message.

#include "frameworks/pmi/pmi.hpp"

namespace starling::mpi {

class Launcher {
 public:
  explicit Launcher(pmi::Component& pmi) noexcept : pmi_(pmi) {}

  /// Becomes readable when the process manager says something, or goes; -1: nothing tells that.
  [[nodiscard]] int descriptor() const noexcept { return pmi_.wait_fd(); }
  /// Looks once, and does not wait. Ends the process if the launcher is gone.
  void check();

 private:
  pmi::Component& pmi_;
};

}  // namespace starling::mpi
