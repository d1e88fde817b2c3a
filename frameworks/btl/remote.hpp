// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One-sided access to memory that a process has exposed: a capability. Layer: framework interface.
///
/// The owner exposes memory (Component::expose) and tells the key to whom it likes, by messages. A peer opens
/// the key at its endpoint to the owner (Remote::open) and puts, gets and changes bytes from then on. The
/// owner is told nothing of it.
/// Threads:   as btl::Endpoint.
/// Ownership: handles are the caller's. An Exposed that goes takes the memory back, a Region that goes
///            forgets it: no access may be under way then, here or at a peer. Both go before the component.
/// Ordering:  none between accesses, except by flush(); Facts::ordered says more. A message that is sent
///            after a flush has ended finds the bytes in place.
/// Errors:    an access from which the peer is lost ends with ok = false. Offsets are the caller's to check:
///            one beyond the region ends this process (expects), and nothing else.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/ids.hpp"
#include "core/result.hpp"

namespace starling::btl {

struct Completion;

/// Memory of this process that peers may reach.
class Exposed {
 public:
  Exposed() = default;
  Exposed(const Exposed&) = delete;
  Exposed& operator=(const Exposed&) = delete;
  virtual ~Exposed() = default;
  /// What a peer needs to open it; the transport's own, of any length up to kKeyMax.
  [[nodiscard]] virtual std::span<const std::byte> key() const noexcept = 0;
  static constexpr std::size_t kKeyMax = 256;
};

/// Memory that the peer of an endpoint has exposed.
class Region {
 public:
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  virtual ~Region() = default;
  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
};

/// One change of 4 or 8 bytes, at a multiple of as many.
struct AtomicChange {
  enum class Kind : std::uint8_t { add, bit_and, bit_or, bit_xor, swap, compare_swap };
  Kind kind = Kind::add;
  std::uint8_t bytes = 8;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;     ///< compare_swap: only if this is there
  std::byte* fetched = nullptr;  ///< gets what was there before, `bytes` of it; null: not wanted
};

class Remote {
 public:
  struct Facts {
    std::size_t access_max_bytes = 0;  ///< of one put or get
    bool passive = false;  ///< accesses go on while the owner computes; else it must call progress()
    bool ordered = false;  ///< puts and changes to one region take effect in the order of their calls
    /// Changes are atomic beside those that processors make in the same memory, and beside those of other
    /// transports; else only beside changes by this transport.
    bool with_processors = false;
  };
  [[nodiscard]] virtual const Facts& facts() const noexcept = 0;

  /// Opens what the peer has exposed. Errors: a key of something else.
  [[nodiscard]] virtual Result<std::unique_ptr<Region>> open(std::span<const std::byte> key) = 0;

  // done: `from` may be reused, or the bytes are here, and `completion` is not called; posted: `completion`
  // will be called when that is so, by a progress() or before this returns; again: nothing has happened.
  // That a put or a change that fetches nothing has ended does not say that it has taken effect: flush()
  // does.
  virtual Post put(Region& to, std::uint64_t offset, std::span<const std::byte> from,
                   Completion* completion) noexcept = 0;
  virtual Post get(Region& from, std::uint64_t offset, std::span<std::byte> to,
                   Completion* completion) noexcept = 0;
  /// Only where the transport has Capability::atomics.
  virtual Post atomic(Region& at, std::uint64_t offset, const AtomicChange& change,
                      Completion* completion) noexcept = 0;
  /// Ends when all puts and changes that were called before have taken effect at the peer.
  virtual Post flush(Completion* completion) noexcept = 0;

 protected:
  ~Remote() = default;
};

}  // namespace starling::btl
