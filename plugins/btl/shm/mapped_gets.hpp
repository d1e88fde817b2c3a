// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Gets from memory that this process can map: one copy without a system call. Layer: plugin.
///
/// The first get of an object goes through the kernel, the second asks its owner for it, and later ones copy
/// out of the map, if that is faster for their size: both are tried (core/trial.hpp). Where the kernel
/// refuses to read other processes, only the map works, and is waited for.
///
/// Threads:   as btl::Component.
/// Ownership: owns maps; borrows the node segment.
/// Errors:    what cannot be mapped is noted once, and read by the kernel or sent by another protocol.
/// Units:     bytes; nanoseconds.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/trial.hpp"
#include "frameworks/shm/memory/maps.hpp"

namespace starling::btl {

enum class MapChoice : std::uint8_t { automatic = 0, never = 1, always = 2 };

/// The map or the kernel, for one class of sizes. The map is tried first, so that the pml, which tries gets
/// against its other protocols at the same time, sees its speed. In a trial the first option stays where both
/// cost the same. So the map's cost counts a quarter more, and the kernel stays where the map brings nothing.
class MapTrial {
 public:
  [[nodiscard]] bool maps() const noexcept { return trial_.option() == 0; }
  [[nodiscard]] bool trying() const noexcept { return trial_.trying(); }
  /// Between trials: one more has been done.
  void count() noexcept { (void)trial_.took(0); }
  /// In a trial: a get by the option of now has cost `cost`.
  void took(std::uint64_t cost) noexcept { (void)trial_.took(maps() ? cost + cost / 4 : cost); }
  [[nodiscard]] std::uint64_t map_cost() const noexcept { return trial_.cost(0) * 4 / 5; }
  [[nodiscard]] std::uint64_t kernel_cost() const noexcept { return trial_.cost(1); }

 private:
  Trial<2> trial_{TrialPace{.settling = 1, .holding = 32768}};
};

class MappedGets {
 public:
  MappedGets(shm::NodeSegment& segment, MapChoice choice, std::uint32_t most) noexcept
      : maps_(segment, choice == MapChoice::never ? 0 : most, Access::read),
        choice_(choice),
        on_(choice != MapChoice::never && most != 0) {}

  [[nodiscard]] bool on() const noexcept { return on_; }
  /// Whether memory at this address of a process can perhaps be had.
  [[nodiscard]] bool possible(std::uint32_t local_rank, std::uint64_t address) const noexcept {
    return on_ && maps_.possible(local_rank, address);
  }

  enum class Outcome : std::uint8_t {
    copied,
    ask_kernel,  ///< call kernel_took() when it has been done, if `timed`
    later,       ///< only without the kernel: not yet
    refused      ///< only without the kernel: never
  };
  struct Get {
    Outcome outcome = Outcome::ask_kernel;
    bool timed = false;
  };
  /// Copies [address, ...) of a process here, or says what to do instead. `kernel`: it can read that process.
  [[nodiscard]] Get get(std::uint32_t local_rank, std::uint64_t address, std::span<std::byte> to,
                        bool kernel) noexcept;
  /// The kernel has taken this time for a get that was to be timed.
  void kernel_took(std::size_t bytes, std::uint64_t ns) noexcept;

  /// A process has ended.
  void drop(std::uint32_t local_rank) noexcept { maps_.drop(local_rank); }
  /// Forgets memory that was freed.
  void tidy() noexcept {
    if (maps_.size() != 0) maps_.drop_freed();
  }
  /// Why the last get was refused, for people.
  [[nodiscard]] std::string why() const {
    return maps_.why().empty() ? "it is not where its owner has announced it" : maps_.why();
  }
  /// What was tried, for the report; empty: nothing.
  [[nodiscard]] std::string note() const;

  /// Sizes that are tried together: below 32 KiB, 64 KiB and so on; the last one has no end.
  static constexpr unsigned kClasses = 9;

 private:
  [[nodiscard]] MapTrial& tried(std::size_t bytes) noexcept;
  [[nodiscard]] Get without_map(shm::MemoryMaps::State state, bool kernel) noexcept;

  shm::MemoryMaps maps_;
  MapChoice choice_;
  bool on_;
  std::array<MapTrial, kClasses> tries_;
};

}  // namespace starling::btl
