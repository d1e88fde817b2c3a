// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Short messages for receives whose buffer is no row of bytes, or one that the library provides.
/// Layer: framework (pml).
///
/// Where a transport can leave a message where it has received it, that place becomes the buffer of a
/// receive that has none; else it gets memory, and the message is copied.
/// Threads:   the pml's.
/// Ownership: what is kept belongs to the receive's Placement.
/// Errors:    false: there is no memory.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "frameworks/pml/layout.hpp"
#include "frameworks/pml/peer.hpp"

namespace starling::pml {

class Placer {
 public:
  /// Where the payload of a message lies.
  enum class Payload : std::uint8_t {
    arriving,  ///< with the transport, which may be able to keep it
    stored     ///< here: its receive came later
  };
  [[nodiscard, gnu::noinline]] bool place(Buffer& buffer, Peer& from, const std::byte* payload,
                                          std::size_t bytes, Payload lies) noexcept;

  /// Shorter messages are copied: what is kept keeps more than itself with the transport.
  static constexpr std::size_t kKeepBytes = 4096;

  /// Messages for buffers of the library's, of peers whose transport has a Keeper.
  struct Counters {
    std::uint64_t kept = 0;        ///< they stayed where the transport had received them
    std::uint64_t kept_bytes = 0;  ///< of these
    // Copied instead, because
    std::uint64_t brief = 0;      ///< the copy costs less
    std::uint64_t late = 0;       ///< the receive came after the message
    std::uint64_t scattered = 0;  ///< their elements lie apart
    std::uint64_t unaligned = 0;  ///< they lay not as memory of malloc does
    std::uint64_t refused = 0;    ///< the transport could not, or the program has enough of it
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  void add_notes(std::vector<std::string>& notes) const;

 private:
  [[nodiscard]] bool keep(Placement& placement, Buffer& buffer, Peer& from, const std::byte* payload,
                          std::size_t bytes, Payload lies) noexcept;

  Counters counters_;
};

}  // namespace starling::pml
