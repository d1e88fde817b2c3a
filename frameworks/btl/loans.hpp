// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Memory lent to the peer of an endpoint, which copies it out: a capability. Layer: framework
/// interface.
///
/// Each direction is opened once: the lender calls offer() and tells its peer what it gave, and the peer
/// gives that to accept(). From then on the lender lends bytes, tells how many, and the peer borrows that
/// many. The order is the only thing that names a byte: whoever lends for several messages says in which
/// order.
/// Threads:   as btl::Endpoint.
/// Ownership: the endpoint's. What is lent stays the lender's and must not change until it has been borrowed.
/// Ordering:  bytes are borrowed in the order in which they were lent.
/// Errors:    set-up returns Result; a short lend() is flow control; after a borrow() that fails the
///            direction is of no use any more. What a lender that dies has lent can still be borrowed.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/result.hpp"

namespace starling::btl {

/// What a lender tells its peer; the transport's own, and as long for all of them.
struct LoanOffer {
  std::uint64_t words[2] = {};
};

class Loans {
 public:
  /// How much may be lent and not yet borrowed, and how much is best lent at a time.
  struct Limits {
    std::size_t window_bytes = 0;
    std::size_t piece_bytes = 0;
  };
  [[nodiscard]] virtual Limits limits() const noexcept = 0;

  /// Opens the outgoing pipe, in which this process lends. Called once.
  [[nodiscard]] virtual Result<LoanOffer> offer() = 0;
  /// Opens the peer's pipe, from which this process borrows; refuses what is not the peer's.
  [[nodiscard]] virtual Result<void> accept(const LoanOffer& offer) = 0;

  /// Lends as much from the beginning as there is room for; the rest is to be tried again.
  [[nodiscard]] virtual std::size_t lend(std::span<const std::byte> bytes) noexcept = 0;
  /// Copies what has been lent. False: less was there than the lender said, or it could not be read.
  [[nodiscard]] virtual bool borrow(std::span<std::byte> to) noexcept = 0;
  /// As borrow(), for bytes that nobody wants.
  [[nodiscard]] virtual bool discard(std::size_t bytes) noexcept = 0;

  /// Closes both directions: the peer is lost.
  virtual void close() noexcept = 0;

 protected:
  ~Loans() = default;
};

}  // namespace starling::btl
