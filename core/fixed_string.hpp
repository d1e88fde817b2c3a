// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Text inside a fixed number of bytes, for records that live in a file. Layer: core.
///
/// Relocation-free by construction: plugin descriptors and parameter manifests are read from the file as
/// bytes.
/// Errors: a literal that does not fit does not compile.
/// Units: bytes; one is kept for the final NUL.

#include <cstddef>
#include <string_view>

namespace starling {

template <std::size_t N>
struct FixedString {
  char bytes[N] = {};

  constexpr FixedString() = default;
  template <std::size_t M>
  consteval FixedString(const char (&literal)[M]) {  // NOLINT: literals are meant to convert
    static_assert(M <= N, "the text does not fit into its field");
    for (std::size_t i = 0; i < M; ++i) bytes[i] = literal[i];
  }
  /// The text up to the first NUL; never reads past the field, whatever a file held.
  [[nodiscard]] constexpr std::string_view view() const noexcept {
    return std::string_view(bytes, N).substr(0, std::string_view(bytes, N).find('\0'));
  }
};

}  // namespace starling
