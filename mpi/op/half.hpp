// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  IEEE binary16 in software: REAL2 and COMPLEX4 on compilers without the type. Layer: mpi.
///
/// Threads: pure functions. Conversion to half rounds to nearest, ties to even.

#include <bit>
#include <cstdint>

namespace starling::mpi {

[[nodiscard]] constexpr float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {
    const float tiny = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(tiny));
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

[[nodiscard]] constexpr std::uint16_t float_to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  // Value = mantissa * 2^(shift): everything below 2^-14 is subnormal in half precision.
  const std::uint32_t exponent = magnitude >> 23;
  std::uint32_t mantissa = (magnitude & 0x7fffffu) | (exponent == 0 ? 0u : 0x800000u);
  std::uint32_t drop = 13;
  std::uint32_t base = 0;
  if (exponent < 113) {
    drop = 126 - exponent;
    if (drop > 25) return sign;
  } else {
    base = (exponent - 113) << 10;  // the implicit bit of the mantissa adds one to the exponent
  }
  const std::uint32_t kept = mantissa >> drop;
  const std::uint32_t rest = mantissa & ((1u << drop) - 1);
  const std::uint32_t half_way = 1u << (drop - 1);
  const std::uint32_t up = rest > half_way || (rest == half_way && (kept & 1u) != 0) ? 1 : 0;
  return static_cast<std::uint16_t>(sign | (base + kept + up));
}

}  // namespace starling::mpi
