// SPDX-License-Identifier: BSD-3-Clause
// What is hard: the first touch of mapped pages is slow, and says nothing about later gets. Layer: plugin.
// Design: docs/design/lanes.md, "Direct copies".

#include "plugins/btl/shm/mapped_gets.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/clock.hpp"

namespace starling::btl {
namespace {

constexpr unsigned kFirstBits = 15;  // sizes below 2^15 bytes

/// What a get of `bytes` that took `ns` costs per MiB.
std::uint64_t cost_of(std::size_t bytes, std::uint64_t ns) noexcept {
  return ns * 1024 / std::max<std::size_t>(bytes / 1024, 1);
}

}  // namespace

MapTrial& MappedGets::tried(std::size_t bytes) noexcept {
  const auto bits = static_cast<unsigned>(std::bit_width(bytes));
  return tries_[std::clamp(bits, kFirstBits, kFirstBits + kClasses - 1) - kFirstBits];
}

MappedGets::Get MappedGets::without_map(shm::MemoryMaps::State state, bool kernel) noexcept {
  using State = shm::MemoryMaps::State;
  if (kernel) return {Outcome::ask_kernel};
  return {state == State::none || state == State::refused ? Outcome::refused : Outcome::later};
}

MappedGets::Get MappedGets::get(std::uint32_t local_rank, std::uint64_t address, std::span<std::byte> to,
                                bool kernel) noexcept {
  if (!on_) return without_map(shm::MemoryMaps::State::none, kernel);
  const bool only = !kernel || choice_ == MapChoice::always;
  const auto view = maps_.find(local_rank, address, to.size(), only);
  if (view.state != shm::MemoryMaps::State::mapped) return without_map(view.state, kernel);
  MapTrial& trial = tried(to.size());
  // Between trials gets are counted, not timed.
  if (!only && !trial.trying()) trial.count();
  const bool timed = !only && trial.trying() && view.used;
  if (!only && !trial.maps() && (view.used || !trial.trying())) return {Outcome::ask_kernel, timed};
  const std::uint64_t begun = timed ? now_ns() : 0;
  std::memcpy(to.data(), view.at, to.size());
  if (timed) trial.took(cost_of(to.size(), now_ns() - begun));
  return {Outcome::copied};
}

void MappedGets::kernel_took(std::size_t bytes, std::uint64_t ns) noexcept {
  MapTrial& trial = tried(bytes);
  if (trial.trying() && !trial.maps()) trial.took(cost_of(bytes, ns));
}

std::string MappedGets::note() const {
  std::string text;
  const auto mb_s = [](std::uint64_t cost) {
    return std::to_string(1'048'576'000 / std::max<std::uint64_t>(cost, 1));
  };
  for (unsigned at = 0; at < kClasses; ++at) {
    const MapTrial& trial = tries_[at];
    if (trial.kernel_cost() == 0) continue;
    text += (text.empty() ? "gets from memory of MPI_Alloc_mem, tried from " : "; ") +
            std::to_string((std::uint64_t{1} << (kFirstBits + at)) / 2048) +
            " KiB: " + (trial.maps() ? "map" : "system call") + " (system call " + mb_s(trial.kernel_cost()) +
            ", map " + mb_s(trial.map_cost()) + " MB/s)";
  }
  return text;
}

}  // namespace starling::btl
