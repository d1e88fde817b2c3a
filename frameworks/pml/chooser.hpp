// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What chooses the protocol of each large message. Layer: framework interface.
///
/// Threads: the pml's. Ownership: the engine's. Errors: none. Units: bytes and nanoseconds.

#include <cstdint>
#include <string>
#include <vector>

#include "frameworks/pml/peer.hpp"

namespace starling::pml {

/// A large receive whose both sides are contiguous, as it matches.
struct LargeReceive {
  const Peer& peer;
  std::uint64_t bytes;
  bool both;               ///< this process has a long send to the peer under way
  std::uint32_t possible;  ///< a bit for each protocol that could take it

  [[nodiscard]] bool can(Large protocol) const noexcept {
    return (possible >> static_cast<unsigned>(protocol) & 1u) != 0;
  }
};

/// Which protocol, and the trial for which Chooser::took() is to be told how long it took; 0: none.
struct LargeChoice {
  Large protocol;
  std::uint32_t trial = 0;
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  /// Chooses the protocol. If the choice is not possible, the first protocol of the list is taken. If it is
  /// possible but not ready yet, choose() is called once more, with `both` false.
  [[nodiscard]] virtual LargeChoice choose(const LargeReceive& receive) noexcept = 0;
  /// A receive of a trial has got its data in `ns`. If other receives from the peer were under way before it,
  /// the time counts from the end of the last of them.
  virtual void took(std::uint32_t trial, std::uint64_t bytes, std::uint64_t ns) noexcept = 0;
  /// What was measured or decided, for the report.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

}  // namespace starling::pml
