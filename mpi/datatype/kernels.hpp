// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Inner loops of packing and unpacking. Layer: mpi.
///
/// kPack copies memory -> stream, otherwise stream -> memory. Memory is an integer, since MPI_BOTTOM plus an
/// absolute displacement is not pointer arithmetic that C++ knows. Each kernel answers the end of the stream
/// it moved.
/// Threads: none shared.
/// Errors: none.
/// Units: bytes.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace starling::mpi::kernels {

template <bool kPack>
inline void copy(std::uintptr_t memory, std::byte* stream, std::size_t bytes) noexcept {
  auto* const at = reinterpret_cast<std::byte*>(memory);
  if constexpr (kPack) {
    std::memcpy(stream, at, bytes);
  } else {
    std::memcpy(at, stream, bytes);
  }
}

/// As copy(), for runs that are mostly short: two overlapping moves instead of a call.
template <bool kPack>
inline void copy_short(std::uintptr_t memory, std::byte* stream, std::size_t bytes) noexcept {
  const auto both_ends = [&](auto half) {
    constexpr std::size_t kHalf = sizeof(half.bytes);
    copy<kPack>(memory, stream, kHalf);
    copy<kPack>(memory + bytes - kHalf, stream + bytes - kHalf, kHalf);
  };
  struct Four {
    std::byte bytes[4];
  };
  struct Eight {
    std::byte bytes[8];
  };
  struct Sixteen {
    std::byte bytes[16];
  };
  struct ThirtyTwo {
    std::byte bytes[32];
  };
  if (bytes > 64) {
    copy<kPack>(memory, stream, bytes);
  } else if (bytes >= 32) {
    both_ends(ThirtyTwo{});
  } else if (bytes >= 16) {
    both_ends(Sixteen{});
  } else if (bytes >= 8) {
    both_ends(Eight{});
  } else if (bytes >= 4) {
    both_ends(Four{});
  } else {
    for (std::size_t i = 0; i < bytes; ++i) copy<kPack>(memory + i, stream + i, 1);
  }
}

/// Blocks of a size known to the compiler, `stride` apart.
template <bool kPack, std::size_t kBlock>
inline std::byte* strided(std::uintptr_t memory, std::int64_t stride, std::uint64_t count,
                          std::byte* stream) noexcept {
  const auto step = static_cast<std::uintptr_t>(stride);
  for (std::uint64_t i = 0; i < count; ++i) {
    copy<kPack>(memory, stream, kBlock);
    memory += step;
    stream += kBlock;
  }
  return stream;
}

template <bool kPack>
inline std::byte* strided_any(std::uintptr_t memory, std::int64_t stride, std::uint64_t count,
                              std::size_t block, std::byte* stream) noexcept {
  const auto step = static_cast<std::uintptr_t>(stride);
  if (block <= 64) {
    for (std::uint64_t i = 0; i < count; ++i, memory += step, stream += block)
      copy_short<kPack>(memory, stream, block);
  } else {
    for (std::uint64_t i = 0; i < count; ++i, memory += step, stream += block)
      copy<kPack>(memory, stream, block);
  }
  return stream;
}

/// Blocks of a size known to the compiler at memory + displacements[i].
template <bool kPack, std::size_t kBlock>
inline std::byte* uniform(std::uintptr_t memory, const std::int64_t* displacements, std::uint64_t count,
                          std::byte* stream) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) {
    copy<kPack>(memory + static_cast<std::uintptr_t>(displacements[i]), stream, kBlock);
    stream += kBlock;
  }
  return stream;
}

template <bool kPack>
inline std::byte* uniform_any(std::uintptr_t memory, const std::int64_t* displacements, std::uint64_t count,
                              std::size_t block, std::byte* stream) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) {
    copy_short<kPack>(memory + static_cast<std::uintptr_t>(displacements[i]), stream, block);
    stream += block;
  }
  return stream;
}

/// Runs of any length: offsets[i] .. offsets[i + 1] are their places in the packed form.
template <bool kPack>
inline std::byte* indexed(std::uintptr_t memory, const std::int64_t* displacements,
                          const std::uint64_t* offsets, std::uint64_t count, std::byte* stream) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t bytes = offsets[i + 1] - offsets[i];
    copy_short<kPack>(memory + static_cast<std::uintptr_t>(displacements[i]), stream, bytes);
    stream += bytes;
  }
  return stream;
}

/// As indexed(), for runs of whole 8-byte words, most of them of up to four. Lengths without a pattern cost a
/// mispredicted branch for each comparison, and here there is one.
template <bool kPack>
inline std::byte* indexed_words(std::uintptr_t memory, const std::int64_t* displacements,
                                const std::uint64_t* offsets, std::uint64_t count,
                                std::byte* stream) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t bytes = offsets[i + 1] - offsets[i];
    const std::uintptr_t from = memory + static_cast<std::uintptr_t>(displacements[i]);
    switch (bytes / 8) {
      case 4: copy<kPack>(from + 24, stream + 24, 8); [[fallthrough]];
      case 3: copy<kPack>(from + 16, stream + 16, 8); [[fallthrough]];
      case 2: copy<kPack>(from + 8, stream + 8, 8); [[fallthrough]];
      case 1: copy<kPack>(from, stream, 8); break;
      default: copy_short<kPack>(from, stream, bytes);
    }
    stream += bytes;
  }
  return stream;
}

/// Calls `kernel` with the block size as a compile-time constant, or with 0 for sizes that have no kernel of
/// their own.
template <class Kernel>
inline std::byte* with_block(std::uint64_t block, Kernel&& kernel) noexcept {
  switch (block) {
    case 1: return kernel.template operator()<1>();
    case 2: return kernel.template operator()<2>();
    case 4: return kernel.template operator()<4>();
    case 8: return kernel.template operator()<8>();
    case 12: return kernel.template operator()<12>();
    case 16: return kernel.template operator()<16>();
    case 24: return kernel.template operator()<24>();
    case 32: return kernel.template operator()<32>();
    case 48: return kernel.template operator()<48>();
    case 64: return kernel.template operator()<64>();
    default: return kernel.template operator()<0>();
  }
}

}  // namespace starling::mpi::kernels
