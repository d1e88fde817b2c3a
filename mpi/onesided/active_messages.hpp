// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Small operations on private memory of a local peer, which that one does itself if it waits inside
/// of MPI: a tenth of a microsecond or two, where the kernel's copy takes more than one. Layer: mpi.
/// docs/design/onesided.md, "Active messages"
///
/// A target that computes is no obstacle: who is not heard within 3 us has the kernel copy, and asks
/// again only after some more operations.
///
/// Threads:   under the runtime's lock, which is not given away meanwhile.
/// Ownership: the window's.
/// Ordering:  what a call has had done is complete when it returns; accumulates hold the stripe whoever does
///            them.
/// Errors:    as those of CrossMemory: ESRCH if the target has ended in the middle of it.
/// Units:     bytes; elements where the name says so.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/backoff.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/onesided/control.hpp"
#include "mpi/op/op.hpp"
#include "mpi/runtime/progressable.hpp"

namespace starling::mpi {

class Win;

class ActiveMessages final : public Progressable {
 public:
  /// None: the target has not heard it, and the caller does it. Else 0 or errno.
  using Outcome = std::optional<int>;

  explicit ActiveMessages(Win& win);
  ~ActiveMessages() override;
  ActiveMessages(const ActiveMessages&) = delete;
  ActiveMessages& operator=(const ActiveMessages&) = delete;

  /// From here on this process does active messages, in each pass; for so many windows as a pass should look
  /// at.
  void serve();

  // At `offset` of the part of a target with a seat.
  [[nodiscard]] Outcome put(std::uint32_t rank, std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] Outcome get(std::uint32_t rank, std::uint64_t offset, std::span<std::byte> bytes);
  /// As Work::run(), of `count` elements in a row.
  [[nodiscard]] Outcome accumulate(std::uint32_t rank, std::uint64_t offset, OpCode code, Basic element,
                                   const std::byte* in, std::byte* out, std::uint64_t count);
  /// The same for elements with gaps between them. `insist`: also a target that has not heard the last times.
  [[nodiscard]] Outcome accumulate(std::uint32_t rank, std::span<const ActiveMessageRuns> series, OpCode code,
                                   Basic element, const std::byte* in, std::byte* out, bool insist);
  /// `result` gets what was there; `origin` goes there if that was equal to `compare`.
  [[nodiscard]] Outcome swap(std::uint32_t rank, std::uint64_t offset, std::size_t bytes, const void* origin,
                             const void* compare, void* result);

  int progress() noexcept override;

 private:
  template <class Write, class Read>
  [[nodiscard]] Outcome ask(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes, Write&& write,
                            Read&& read, std::uint64_t runs = 0, bool insist = false);
  [[nodiscard]] bool heard(ActiveMessage& active_message, std::uint32_t rank, std::uint64_t runs) noexcept;
  [[nodiscard]] bool finished(ActiveMessage& active_message, std::uint32_t seat) noexcept;
  void grant(ActiveMessage& active_message) noexcept;
  void work(const ActiveMessage& active_message, const std::byte* in, std::byte* before) noexcept;
  void work_on_series(const ActiveMessage& active_message, std::byte* data) noexcept;

  Win& win_;
  bool serves_ = false;
  std::uint64_t done_ = 0;                   // for this process
  std::vector<Backoff<16, 1024>> patience_;  // by seat: with targets that do not hear
};

}  // namespace starling::mpi
