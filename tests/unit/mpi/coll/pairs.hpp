// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Elements for collective tests: pairs of 32-bit numbers, laid out in several ways, and operations on
/// them. Layer: test.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "mpi/coll/type.hpp"

namespace starling::mpi::coll::testing {

/// Sizes of communicators.
inline constexpr int kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17};

[[nodiscard]] constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Pair {
  std::uint32_t a = 0, b = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Pair& pair) {
    return out << '(' << pair.a << ',' << pair.b << ')';
  }
};

/// Two numbers at displacements `a` and `b` of an element of `extent` bytes.
class PairLayout final : public pml::Layout {
 public:
  PairLayout(std::int64_t a, std::int64_t b, std::int64_t extent) : a_(a), b_(b), extent_(extent) {}
  [[nodiscard]] Type type() const {
    const std::int64_t low = std::min(a_, b_), high = std::max(a_, b_) + 4;
    return {this, 8, extent_, low, high - low, a_ == 0 && b_ == 4 && extent_ == 8, this};
  }
  [[nodiscard]] Pair get(const void* base, std::uint64_t i) const {
    Pair pair;
    std::memcpy(&pair.a, at(base, i, a_), 4);
    std::memcpy(&pair.b, at(base, i, b_), 4);
    return pair;
  }
  void set(void* base, std::uint64_t i, Pair pair) const {
    std::memcpy(const_cast<std::byte*>(at(base, i, a_)), &pair.a, 4);
    std::memcpy(const_cast<std::byte*>(at(base, i, b_)), &pair.b, 4);
  }
  [[nodiscard]] std::uint64_t packed_bytes() const noexcept override { return 8; }
  void pack(const void* base, std::uint64_t count, std::uint64_t offset, std::byte* to,
            std::size_t bytes) const noexcept override {
    ASSERT_LE(offset + bytes, count * 8);
    for (std::size_t i = 0; i < bytes; ++i) to[i] = *byte(base, offset + i);
  }
  void unpack(void* base, std::uint64_t count, std::uint64_t offset, const std::byte* from,
              std::size_t bytes) const noexcept override {
    ASSERT_LE(offset + bytes, count * 8);
    for (std::size_t i = 0; i < bytes; ++i) *const_cast<std::byte*>(byte(base, offset + i)) = from[i];
  }

 private:
  [[nodiscard]] const std::byte* at(const void* base, std::uint64_t i, std::int64_t offset) const {
    return static_cast<const std::byte*>(base) + static_cast<std::int64_t>(i) * extent_ + offset;
  }
  [[nodiscard]] const std::byte* byte(const void* base, std::uint64_t packed) const {
    const auto rest = static_cast<std::int64_t>(packed % 8);
    return at(base, packed / 8, rest < 4 ? a_ + rest : b_ + rest - 4);
  }
  std::int64_t a_, b_, extent_;
};

inline const PairLayout kDense{0, 4, 8};
inline const PairLayout kGappy{8, 0, 24};       // out of order, with holes
inline const PairLayout kShifted{20, 28, 16};   // elements interleave, away from their address
inline const PairLayout kBackwards{4, 0, -12};  // negative extent
inline const PairLayout* const kLayouts[] = {&kDense, &kGappy, &kShifted, &kBackwards};

/// A user buffer of `count` elements whose other bytes must stay as they are.
class Memory {
 public:
  Memory(const PairLayout& layout, std::uint64_t count)
      : layout_(&layout), count_(count), bytes_(64 + 40 * (count + 2), kBlank) {}
  [[nodiscard]] void* base() {
    const bool backwards = layout_->type().extent < 0;
    return bytes_.data() + (backwards ? bytes_.size() - 64 : 32);
  }
  [[nodiscard]] Pair get(std::uint64_t i) { return layout_->get(base(), i); }
  void set(std::uint64_t i, Pair pair) { layout_->set(base(), i, pair); }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// True if nothing but the elements has changed. Overwrites the elements.
  [[nodiscard]] bool rest_is_blank() {
    Pair blank;
    std::memset(static_cast<void*>(&blank), static_cast<int>(kBlank), sizeof blank);
    for (std::uint64_t i = 0; i < count_; ++i) set(i, blank);
    return std::all_of(bytes_.begin(), bytes_.end(), [](std::byte byte) { return byte == kBlank; });
  }

 private:
  static constexpr std::byte kBlank{0xee};
  const PairLayout* layout_;
  std::uint64_t count_;
  std::vector<std::byte> bytes_;
};

inline Pair sum(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }
/// Composition of v -> a v + b: associative, not commutative.
inline Pair compose(Pair x, Pair y) { return {x.a * y.a, x.b * y.a + y.b}; }

template <Pair (*kOp)(Pair, Pair)>
void apply(const Operator&, const void* in, const void* right, void* out, std::uint64_t count,
           const Type& type) {
  const auto& layout = *static_cast<const PairLayout*>(type.object);
  for (std::uint64_t i = 0; i < count; ++i) layout.set(out, i, kOp(layout.get(in, i), layout.get(right, i)));
}
inline const Operator kSum{apply<sum>, nullptr, true};
inline const Operator kCompose{apply<compose>, nullptr, false};

/// The element that process `rank` contributes at `index`.
inline Pair value(int rank, std::uint64_t index) {
  const std::uint32_t seed =
      static_cast<std::uint32_t>(rank) * 2654435761u + static_cast<std::uint32_t>(index) * 40503u;
  return {(seed ^ (seed >> 13)) | 1u, seed * 69069u + 12345u};
}

}  // namespace starling::mpi::coll::testing
