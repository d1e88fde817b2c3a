// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Bytes of any content as PMI keys and values under any announced maximum. Layer: framework.
///
/// A value becomes the text `<decimal length>.<base64url without padding>`, which is cut into pieces of
/// vallen_max - 1 characters (the maximum counts C's final NUL in some servers). The first piece names the
/// length, hence the number of pieces: put and get compute it by the same function. Keys: `s<rank>:<key>` and
/// `s<rank>:<key>.<piece>` for pieces after the first, hashed to `s<rank>#<hash>` where the key is too long
/// or has bytes that are not letters, digits, `_` or `-`.
///
/// Threads: value types. Errors: decode() of anything that encode() did not write is bad_input. Units: bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace starling::pmi {

/// What the server said about its key-value space.
struct Maxima {
  std::size_t keylen_max = 64;
  std::size_t vallen_max = 1024;
};

/// How values are cut and keys are named under one pair of maxima.
class ValueCodec {
 public:
  static constexpr std::size_t kMinKeylenMax = 40;
  static constexpr std::size_t kMinVallenMax = 32;

  /// unsupported if the maxima are below the two minima.
  [[nodiscard]] static Result<ValueCodec> make(Maxima maxima);

  /// The text of a value of up to kMaxValueBytes bytes.
  [[nodiscard]] static std::string encode(std::span<const std::byte> value);
  [[nodiscard]] static Result<std::vector<std::byte>> decode(std::string_view text);

  /// Pieces of a text, in order; views into it.
  [[nodiscard]] std::vector<std::string_view> pieces(std::string_view text) const;
  /// How many pieces the value has whose first piece this is.
  [[nodiscard]] Result<std::size_t> piece_count(std::string_view first_piece) const;

  /// The name under which a piece is stored: shorter than keylen_max.
  [[nodiscard]] std::string key_name(std::uint32_t rank, std::string_view key, std::size_t piece) const;

 private:
  explicit ValueCodec(Maxima maxima) : maxima_(maxima) {}
  [[nodiscard]] std::size_t piece_bytes() const noexcept { return maxima_.vallen_max - 1; }
  Maxima maxima_;
};

}  // namespace starling::pmi
