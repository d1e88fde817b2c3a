// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Pages lent from one process of a node to another through a pipe. Layer: framework (pml).
///
/// The lender puts references to the pages of its buffer into a pipe (vmsplice), and the borrower reads them
/// out into its own buffer: one copy, on the borrower's processor, without a look-up of foreign pages. Why
/// and when: docs/design/pml.md, "Both ways at once".
/// Threads:   the pml's.
/// Ownership: the lender keeps both ends of its pipe, so that writing never raises SIGPIPE; a lent buffer
///            must stay as it is until the borrower has read it.
/// Ordering:  bytes are taken in the order they were lent.
/// Errors:    set-up returns Result; a short lend() is flow control; after a failed take() the pipe is of no
///            use any more.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/result.hpp"
#include "core/unique_fd.hpp"

namespace starling::pml {

/// Where a borrower finds a pipe, and how it knows that it is the right one: pids and descriptors mean
/// something else in another pid namespace, a pipe's inode does not.
struct LoanAddress {
  std::uint32_t pid = 0;
  std::uint32_t descriptor = 0;
  std::uint64_t inode = 0;
};

class Lender {
 public:
  /// A pipe for `room` bytes of whole pages. A page lent in part takes as much room as a whole one.
  [[nodiscard]] static Result<Lender> create(std::size_t room);

  [[nodiscard]] LoanAddress address() const noexcept { return address_; }
  /// Lends as much from the beginning as the pipe takes; the rest is to be tried again.
  [[nodiscard]] std::size_t lend(std::span<const std::byte> bytes) noexcept;

  /// What has been lent and not yet been read, as far as the borrower has told.
  std::size_t unread = 0;

 private:
  Lender(UniqueFd out, UniqueFd in, LoanAddress address) noexcept
      : out_(std::move(out)), in_(std::move(in)), address_(address) {}
  UniqueFd out_, in_;
  LoanAddress address_;
};

class Borrower {
 public:
  /// Opens the pipe of another process of this node; refuses anything else that is found there.
  [[nodiscard]] static Result<Borrower> open(const LoanAddress& at);

  /// Reads what has been lent. False: less was there than the lender said, or it could not be read.
  [[nodiscard]] bool take(std::span<std::byte> to) noexcept;
  /// The same for bytes that nobody wants.
  [[nodiscard]] bool discard(std::size_t bytes) noexcept;

 private:
  explicit Borrower(UniqueFd in) noexcept : in_(std::move(in)) {}
  UniqueFd in_;
};

}  // namespace starling::pml
