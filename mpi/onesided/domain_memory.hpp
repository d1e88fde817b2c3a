// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The memory object of a window's domain: control words, and the parts of an allocated window. Layer:
/// mpi. docs/design/onesided.md
///
/// The first local peer makes it, the others map it; nobody reserves or touches a page.
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Ownership: owns the map until take().
/// Errors:    on all members, wherever the memory could not be had.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/onesided/proposal.hpp"
#include "mpi/onesided/window.hpp"

namespace starling::mpi {

class DomainMemory {
 public:
  DomainMemory(Comm& comm, const Domain& domain, std::vector<std::uint32_t> local_ranks,
               Control::More more) noexcept
      : comm_(comm), domain_(domain), local_ranks_(std::move(local_ranks)), more_(more) {}

  /// Where each local peer's part will lie, behind the control words.
  void lay_out(const Proposals& proposals, bool contiguous);
  /// For windows whose memory lies elsewhere.
  void lay_out_control() noexcept;
  /// Makes or maps it; every member calls it. An Error: this member does not have it.
  [[nodiscard]] Result<void> share();
  /// By a member that needs none, where others make theirs.
  [[nodiscard]] Result<void> stand_by();
  /// Of a domain of one, where nobody makes any for several.
  [[nodiscard]] Result<void> make_alone();
  /// When all members have it, or have given up: nobody can map it any more.
  void close() noexcept;
  [[nodiscard]] Mapping take() noexcept { return std::move(mapping_); }
  /// The same, where it is an extent of the node's segment: a small one is, and needs no object.
  [[nodiscard]] ControlExtent take_extent() noexcept { return std::move(extent_); }
  /// After share() went well.
  [[nodiscard]] std::byte* part(std::uint32_t seat) const noexcept {
    std::byte* const small = extent_.data();
    return (small != nullptr ? small : offered_ != nullptr ? offered_ : mapping_.data()) + offsets_[seat];
  }

 private:
  struct Offer;
  [[nodiscard]] Result<void> offer(Offer& mine);
  [[nodiscard]] Result<void> accept(const Offer& offer);

  Comm& comm_;
  const Domain& domain_;
  std::vector<std::uint32_t> local_ranks_;  // of the local peers
  Control::More more_;
  std::vector<std::uint64_t> offsets_;
  std::uint64_t bytes_ = 0;
  ControlExtent extent_;
  std::byte* offered_ = nullptr;
  Mapping mapping_;
};

}  // namespace starling::mpi
