// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Puts and gets by the transport itself, with members of other nodes. Layer: mpi.
/// docs/design/onesided.md
///
/// When a window is made, members expose their parts to a network that can do this (btl::Capability::put) and
/// tell each other the keys. A put or a get without gaps then goes straight from memory to memory. Everything
/// else goes by messages, and so do operations of an origin that holds no lock yet; neither overtakes the
/// other.
///
/// Threads:   under the runtime's lock, which waiting releases.
/// Ownership: the window's messages own it; keys and regions go before the window's memory.
/// Ordering:  none before settle().
/// Errors:    the next flush reports an access that has failed, as MPI_ERR_PROC_ABORTED, and also puts whose
///            target was lost before they were flushed.
/// Units:     bytes.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "frameworks/btl/btl.hpp"
#include "mpi/onesided/target.hpp"

namespace starling::mpi {

class Win;

namespace message {

/// A member's memory as one network knows it; fixed size, since all members' are exchanged at once.
struct NativeKey {
  std::array<char, 24> transport{};  ///< its name; empty: the member exposes nothing
  std::uint64_t bytes = 0;           ///< of the key
  std::array<std::byte, btl::Exposed::kKeyMax> key{};
};
static_assert(sizeof(NativeKey) == 32 + btl::Exposed::kKeyMax);

class Native {
 public:
  explicit Native(Win& win) noexcept : win_(win) {}
  ~Native();
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;

  /// Exposes this member's part to the first network that takes it. False: none does.
  [[nodiscard]] bool expose(std::span<std::byte> memory);
  [[nodiscard]] const NativeKey& own_key() const noexcept { return own_; }
  void take(std::vector<NativeKey> keys) noexcept { keys_ = std::move(keys); }

  /// The most accesses to a target that have not ended. Beyond that put() and get() wait until one has ended.
  static constexpr std::size_t kOpenMost = 256;
  /// False: the operation has to go by messages (the network does not reach the target, or not yet).
  /// `number`: Channel::next_number().
  [[nodiscard]] bool put(std::uint32_t rank, std::uint64_t number, std::uint64_t offset,
                         std::span<const std::byte> from);
  [[nodiscard]] bool get(std::uint32_t rank, std::uint64_t number, std::uint64_t offset,
                         std::span<std::byte> to);

  /// Whether the program's buffers of all accesses up to this one are free.
  [[nodiscard]] bool done_here(std::uint32_t rank, std::uint64_t number) const noexcept;
  /// As above, for all accesses.
  [[nodiscard]] bool done_here(std::uint32_t rank) const noexcept;
  /// Whether the operation of this number was an access that has failed.
  [[nodiscard]] bool failed(std::uint32_t rank, std::uint64_t number) const noexcept;
  /// Progresses until all accesses to a target have taken effect there. True: they have, or take_failure()
  /// tells that they have not.
  [[nodiscard]] bool settled(std::uint32_t rank) noexcept;
  /// Targets that have been accessed.
  [[nodiscard]] std::vector<std::uint32_t> used() const;
  /// The target is lost: begins no more accesses. Those under way end as the transport says.
  void lose(std::uint32_t rank) noexcept;
  /// Whether an access has failed since the last time.
  [[nodiscard]] bool take_failure(std::uint32_t rank) noexcept;

 private:
  struct Way {
    std::unique_ptr<btl::Region> region;
    btl::Remote* remote = nullptr;
    std::set<std::uint64_t> open;                  // accesses that have not ended
    std::uint64_t failed_from = 0, failed_to = 0;  // the first and the last that has failed; 0: none has
    bool unflushed = false;                        // something was put since the last flush
    bool flushing = false;
    bool failed = false;    // since take_failure()
    bool hopeless = false;  // nothing more goes to this target: no key, a failure, a loss
  };
  struct Flight : btl::Completion {
    Native* native = nullptr;
    Way* way = nullptr;
    std::uint64_t number = 0;  // 0: a flush
  };

  [[nodiscard]] Way* way(std::uint32_t rank);
  [[nodiscard]] Flight& take_off(Way& way, std::uint64_t number);
  void landed(Flight& flight, bool ok) noexcept;
  static void on_done(btl::Completion* completion, bool ok) noexcept;
  template <class Access>
  [[nodiscard]] bool start(std::uint32_t rank, std::uint64_t number, std::size_t bytes, bool puts,
                           Access&& access);

  Win& win_;
  std::unique_ptr<btl::Exposed> exposed_;
  NativeKey own_;
  std::vector<NativeKey> keys_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Way>> ways_;
  std::string transport_;       // that was used last
  std::uint64_t accesses_ = 0;  // so far
  std::deque<Flight> flights_;
  std::vector<Flight*> free_;
};

}  // namespace message
}  // namespace starling::mpi
