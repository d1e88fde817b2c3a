// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  How this process comes to its place: at the start, and later where the process manager has not said
/// who is on which node. Layer: mpi. docs/design/startup.md
///
/// Threads:   under the runtime's lock, which waiting gives away.
/// Ownership: everything is borrowed.
/// Errors:    as Place; a process of the job that does not come.

#include <cstdint>
#include <optional>

#include "core/result.hpp"
#include "frameworks/pmi/pmi.hpp"
#include "mpi/runtime/allocated_memory.hpp"
#include "mpi/runtime/environment.hpp"
#include "mpi/runtime/fences.hpp"
#include "mpi/runtime/phases.hpp"
#include "mpi/runtime/place.hpp"
#include "mpi/runtime/transports.hpp"
#include "mpi/runtime/waits.hpp"

namespace starling::mpi {

class Seating {
 public:
  /// Whom a new place concerns.
  struct Parts {
    Environment& environment;
    pmi::Component& pmi;
    Place& place;
    Waits& waits;
    Fences& fences;
    Transports& transports;
    AllocatedMemory& allocated_memory;
    Phases& phases;
  };
  explicit Seating(const Parts& parts) noexcept : parts_(parts) {}

  // At the start, in this order.
  [[nodiscard]] Result<void> find();
  [[nodiscard]] Result<void> attach();

  /// Finds out who is on which node, where the process manager does not say: then collective over the world,
  /// at the first call. Until then this process counts as alone on its node.
  [[nodiscard]] Result<void> know();
  [[nodiscard]] bool known() const noexcept { return state_ == State::on_node; }

 private:
  [[nodiscard]] Result<void> move_to_node();
  void settle();

  enum class State : std::uint8_t { on_node, alone, asking, refused };
  Parts parts_;
  State state_ = State::on_node;
  std::optional<Error> refused_;
};

}  // namespace starling::mpi
