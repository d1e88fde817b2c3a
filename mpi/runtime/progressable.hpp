// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Something that advances with every pass until it is done. Layer: mpi.
///
/// Threads:   under the runtime's lock.
/// Ownership: the owner keeps it alive while it is registered (polling.hpp).

#include <cstdint>
#include <string>

namespace starling::mpi {

/// A schedule of a collective, for one.
class Progressable {
 public:
  virtual ~Progressable() = default;
  /// Returns the number of events. May deregister itself and others.
  virtual int progress() noexcept = 0;
  /// For hang help: what it is and what it waits for; empty: nothing to say.
  [[nodiscard]] virtual std::string describe() const { return {}; }
  /// Whether progress() may call the program's functions (a user-defined operation). Only threads of the
  /// program may run those.
  [[nodiscard]] virtual bool calls_program() const noexcept { return false; }

  /// As Waiting::since_ns.
  std::uint64_t since_ns = 0;

 private:
  friend class Polling;
  Progressable* next_ = nullptr;
  Progressable* previous_ = nullptr;
  bool registered_ = false;
};

}  // namespace starling::mpi
