// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a process that has waited long reports: what it waits for, and on whom. Layer: mpi.
/// docs/design/waiting.md
///
/// Threads:   under the runtime's lock.
/// Ownership: everything is borrowed.
/// Units:     nanoseconds in names.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "frameworks/pml/pml.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "mpi/runtime/polling.hpp"

namespace starling::mpi {

/// Whole lines that fit into `room` bytes; the last says how many are missing.
[[nodiscard]] std::string fit_lines(const std::vector<std::string>& lines, std::size_t room);

class HangHelp {
 public:
  explicit HangHelp(const Polling& polling) noexcept : polling_(polling) {}

  /// Where mpiexec asks and reads; another one once the process has moved to its node.
  void set_slot(shm::ProcSlot& slot) noexcept { slot_ = &slot; }
  /// Whose messages are told. Before anything waits.
  void set_pml(pml::Component& pml) noexcept { pml_ = &pml; }
  /// How communicators are called; without it they are numbers.
  using NameOf = std::string (*)(ContextId);
  void set_communicator_names(NameOf name_of) noexcept { name_of_ = name_of; }

  /// One line per thing that this process waits for, the latest first.
  [[nodiscard]] std::vector<std::string> waiting_for();
  /// Ages count from the first call that finds something: called now and then while this process waits.
  void note_ages(std::uint64_t now_ns) noexcept;
  /// Writes the answer for mpiexec, if it has asked.
  void answer() {
    const std::uint32_t wanted = slot_->report_wanted.load(std::memory_order_acquire);
    if (wanted != slot_->report_done.load(std::memory_order_relaxed)) [[unlikely]]
      write_answer(wanted);
  }

 private:
  void write_answer(std::uint32_t wanted);
  [[nodiscard]] std::string communicator_name(ContextId id) const {
    return name_of_ == nullptr ? "context " + std::to_string(id.bits) : name_of_(id);
  }

  const Polling& polling_;
  shm::ProcSlot* slot_ = nullptr;
  pml::Component* pml_ = nullptr;
  NameOf name_of_ = nullptr;
};

}  // namespace starling::mpi
