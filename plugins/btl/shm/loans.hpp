// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Pages lent from one process of a node to another through a pipe. Layer: plugin.
///
/// The lender puts references to the pages of its buffer into a pipe (vmsplice), and the borrower reads them
/// out into its own buffer: one copy, on the borrower's processor, without a look-up of foreign pages. Why
/// and when: docs/design/pml.md, "Both ways at once".
/// Threads:   the endpoint's.
/// Ownership: the lender keeps both ends of its pipe, so that writing never raises SIGPIPE.
/// Ordering:  bytes are taken in the order they were lent.
/// Errors:    as btl::Loans.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/result.hpp"
#include "core/unique_fd.hpp"
#include "frameworks/btl/loans.hpp"

namespace starling::btl {

/// Where a borrower finds a pipe, and its inode, by which it knows that it is the right one: pids and
/// descriptors mean something else in another pid namespace, an inode does not.
struct PipeAddress {
  std::uint32_t pid = 0;
  std::uint32_t descriptor = 0;
  std::uint64_t inode = 0;

  [[nodiscard]] LoanOffer offer() const noexcept { return {{std::uint64_t{pid} << 32 | descriptor, inode}}; }
  [[nodiscard]] static PipeAddress of(const LoanOffer& offer) noexcept {
    return {static_cast<std::uint32_t>(offer.words[0] >> 32), static_cast<std::uint32_t>(offer.words[0]),
            offer.words[1]};
  }
};

class Lender {
 public:
  /// A pipe for `room` bytes of whole pages. A page lent in part takes as much room as a whole one.
  [[nodiscard]] static Result<Lender> create(std::size_t room);

  [[nodiscard]] PipeAddress address() const noexcept { return address_; }
  /// Lends as much from the beginning as the pipe takes; the rest is to be tried again.
  [[nodiscard]] std::size_t lend(std::span<const std::byte> bytes) noexcept;

 private:
  Lender(UniqueFd out, UniqueFd in, PipeAddress address) noexcept
      : out_(std::move(out)), in_(std::move(in)), address_(address) {}
  UniqueFd out_, in_;
  PipeAddress address_;
};

class Borrower {
 public:
  /// Opens the pipe of another process of this node; refuses anything else that is found there.
  [[nodiscard]] static Result<Borrower> open(const PipeAddress& at);

  /// Reads what has been lent. False: less was there than the lender said, or it could not be read.
  [[nodiscard]] bool take(std::span<std::byte> to) noexcept;
  /// As take(), for bytes that nobody wants.
  [[nodiscard]] bool discard(std::size_t bytes) noexcept;

 private:
  explicit Borrower(UniqueFd in) noexcept : in_(std::move(in)) {}
  UniqueFd in_;
};

/// A pipe in each direction between this process and another one of its node.
class PipeLoans final : public Loans {
 public:
  [[nodiscard]] Limits limits() const noexcept override { return {kPipeBytes / 2, kPieceBytes}; }
  [[nodiscard]] Result<LoanOffer> offer() override;
  [[nodiscard]] Result<void> accept(const LoanOffer& offer) override;
  [[nodiscard]] std::size_t lend(std::span<const std::byte> bytes) noexcept override {
    return lender_ ? lender_->lend(bytes) : 0;
  }
  [[nodiscard]] bool borrow(std::span<std::byte> to) noexcept override;
  [[nodiscard]] bool discard(std::size_t bytes) noexcept override;
  void close() noexcept override {
    lender_.reset();
    borrower_.reset();
  }

 private:
  /// At most half of this is lent at once, since a slot of the pipe may hold a part of a page only.
  static constexpr std::size_t kPipeBytes = 1024 * 1024;
  static constexpr std::size_t kPieceBytes = 256 * 1024;
  std::optional<Lender> lender_;
  std::optional<Borrower> borrower_;
};

}  // namespace starling::btl
