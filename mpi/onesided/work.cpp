// SPDX-License-Identifier: BSD-3-Clause
// Work on elements. What is hard: they may lie at any alignment, and an element's stripe is held while it is
// worked on, and no longer; also where it has to be copied here and back. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/work.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "mpi/onesided/cross_memory.hpp"
#include "mpi/onesided/stripes.hpp"

namespace starling::mpi {

Work::Work(const Win& win, std::uint32_t rank, OpCode code, Basic element) noexcept
    : win_(win),
      rank_(rank),
      target_(win.target(rank)),
      code_(code),
      element_(element),
      info_(info_of(element)),
      kernel_(code == OpCode::replace || code == OpCode::no_op ? nullptr : find_kernel(code, element)) {}

void Work::run(std::uint64_t offset, const std::byte* in, std::byte* out, std::uint64_t count) noexcept {
  while (count > 0 && failed_ == 0) {
    const std::uint64_t left = kStripeBytes - offset % kStripeBytes;
    const std::uint64_t now =
        count * extent() <= left ? count : std::min(count, (left + extent() - 1) / extent());
    if (target_.path == Path::direct) [[likely]] {
      const Stripe stripe(win_, rank_, offset);
      work(target_.at(offset), in, out, now);
    } else {
      copied(offset, in, out, now);
    }
    offset += now * extent();
    if (in != nullptr) in += now * extent();
    if (out != nullptr) out += now * extent();
    count -= now;
  }
}

void Work::work(std::byte* at, const std::byte* in, std::byte* out, std::uint64_t count) const noexcept {
  if (out != nullptr) std::memcpy(out, at, count * extent());
  if (code_ == OpCode::replace) std::memcpy(at, in, count * extent());
  if (kernel_ != nullptr) combine(at, in, count);
}

/// On a copy of at most a stripe, which goes back before the stripe is given away.
[[gnu::noinline]] void Work::copied(std::uint64_t offset, const std::byte* in, std::byte* out,
                                    std::uint64_t count) noexcept {
  if (win_.active_messages != nullptr) {
    const ActiveMessages::Outcome done =
        win_.active_messages->accumulate(rank_, offset, code_, element_, in, out, count);
    if (done) {
      failed_ = *done;
      return;
    }
  }
  alignas(64) std::array<std::byte, kStripeBytes + kMostElement> copy;
  const std::span<std::byte> bytes(copy.data(), count * extent());
  const CrossMemory there = CrossMemory::of(target_);
  const Stripe stripe(win_, rank_, offset);
  if (reads(out)) failed_ = there.move(Direction::get, bytes, target_.address + offset);
  if (failed_ != 0) return;
  work(copy.data(), in, out, count);
  if (writes()) failed_ = there.move(Direction::put, bytes, target_.address + offset);
}

void Work::combine(std::byte* at, const std::byte* in, std::uint64_t count) const noexcept {
  if (aligned(at) && aligned(in)) [[likely]] {
    kernel_(in, at, at, count);
    return;
  }
  alignas(64) std::array<std::byte, kMostElement> one;
  alignas(64) std::array<std::byte, kMostElement> other;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memcpy(one.data(), in + i * extent(), extent());
    std::memcpy(other.data(), at + i * extent(), extent());
    kernel_(one.data(), other.data(), other.data(), 1);
    std::memcpy(at + i * extent(), other.data(), extent());
  }
}

}  // namespace starling::mpi
