// SPDX-License-Identifier: BSD-3-Clause
// Values as text, and texts as pieces. Layer: framework. See docs/design/pmi.md.
//
// Hard here: nothing but the length in the first piece says how many pieces there are, so its digits are
// checked (no leading zero, in range) before anything is computed from it, and decode() accepts exactly the
// texts that encode() writes.

#include "frameworks/pmi/value.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "core/expects.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::pmi {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<std::int8_t, 256> make_reverse() {
  std::array<std::int8_t, 256> reverse{};
  for (auto& entry : reverse) entry = -1;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    reverse[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  return reverse;
}
constexpr auto kReverse = make_reverse();

constexpr std::size_t base64_chars(std::size_t bytes) noexcept { return (bytes * 4 + 2) / 3; }

Unexpected bad_value(std::string_view rule) { return fail(Errc::bad_input, "PMI value", std::string(rule)); }

struct Header {
  std::size_t bytes = 0;  ///< of the value
  std::size_t text = 0;   ///< characters before the base64 part
};

Result<Header> read_header(std::string_view text) {
  Header header;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), header.bytes);
  header.text = static_cast<std::size_t>(end - text.data()) + 1;
  const bool leading_zero = text.size() > 1 && text[0] == '0' && text[1] != '.';
  if (code != std::errc{} || leading_zero || header.text > text.size() || text[header.text - 1] != '.') {
    return bad_value("it starts with its length and a dot; this one was written by somebody else");
  }
  if (header.bytes > kMaxValueBytes) return bad_value("its length exceeds 65536 bytes");
  return header;
}

/// 64-bit FNV-1a with a chosen start; two of them name a key whose own name does not fit.
std::uint64_t hash(std::string_view text, std::uint64_t start) noexcept {
  std::uint64_t value = start;
  for (const char byte : text) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return value;
}

void append_base64(std::string& text, std::uint64_t bits) {
  for (int i = 0; i < 11; ++i, bits >>= 6) text += kAlphabet[bits & 63];
}

bool is_key_byte(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
         byte == '_' || byte == '-';
}

bool is_key(std::string_view key) noexcept {
  if (key.empty()) return false;
  for (const char byte : key) {
    if (!is_key_byte(byte)) return false;
  }
  return true;
}

}  // namespace

Result<ValueCodec> ValueCodec::make(Maxima maxima) {
  if (maxima.keylen_max < kMinKeylenMax || maxima.vallen_max < kMinVallenMax) {
    return fail(Errc::unsupported, "PMI maxima",
                "the process manager allows keys of " + std::to_string(maxima.keylen_max) +
                    " and values of " + std::to_string(maxima.vallen_max) + " characters; at least " +
                    std::to_string(kMinKeylenMax) + " and " + std::to_string(kMinVallenMax) + " are needed");
  }
  return ValueCodec(maxima);
}

std::string ValueCodec::encode(std::span<const std::byte> value) {
  expects(value.size() <= kMaxValueBytes, "a PMI value is longer than 64 KiB");
  std::string text = std::to_string(value.size()) + ".";
  text.reserve(text.size() + base64_chars(value.size()));
  for (std::size_t i = 0; i < value.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, value.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < count ? std::to_integer<std::uint32_t>(value[i + k]) : 0);
    for (std::size_t k = 0; k <= count; ++k) text += kAlphabet[bits >> (18 - 6 * k) & 63];
  }
  return text;
}

Result<std::vector<std::byte>> ValueCodec::decode(std::string_view text) {
  auto header = read_header(text);
  if (!header) return fail(std::move(header).error());
  const std::string_view body = text.substr(header->text);
  if (body.size() != base64_chars(header->bytes)) return bad_value("its length is not the one that it names");
  std::vector<std::byte> value;
  value.reserve(header->bytes);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char digit : body) {
    const int six = kReverse[static_cast<unsigned char>(digit)];
    if (six < 0) return bad_value("a character is not of the base64url alphabet");
    bits = (bits << 6 | static_cast<std::uint32_t>(six)) & 0xffffffu;
    held += 6;
    if (held >= 8) {
      held -= 8;
      value.push_back(static_cast<std::byte>(bits >> held & 0xffu));
    }
  }
  if ((bits & ((1u << held) - 1)) != 0) return bad_value("bits after its end are not zero");
  return value;
}

std::vector<std::string_view> ValueCodec::pieces(std::string_view text) const {
  std::vector<std::string_view> pieces;
  pieces.reserve(text.size() / piece_bytes() + 1);
  for (std::size_t at = 0; at < text.size(); at += piece_bytes())
    pieces.push_back(text.substr(at, piece_bytes()));
  return pieces;
}

Result<std::size_t> ValueCodec::piece_count(std::string_view first_piece) const {
  auto header = read_header(first_piece);
  if (!header) return fail(std::move(header).error());
  const std::size_t text = header->text + base64_chars(header->bytes);
  const std::size_t count = (text + piece_bytes() - 1) / piece_bytes();
  if (count > 1 ? first_piece.size() != piece_bytes() : first_piece.size() != text) {
    return bad_value("its first piece has the wrong length");
  }
  return count;
}

std::string ValueCodec::key_name(std::uint32_t rank, std::string_view key, std::size_t piece) const {
  const std::string suffix = piece == 0 ? "" : "." + std::to_string(piece);
  std::string name = "s" + std::to_string(rank);
  // The longest suffix decides, so that all pieces of a value are named alike.
  constexpr std::size_t kSuffixBytes = 5;
  if (is_key(key) && name.size() + 1 + key.size() + kSuffixBytes < maxima_.keylen_max) {
    return name.append(":").append(key).append(suffix);
  }
  name += '#';
  append_base64(name, hash(key, 0xcbf29ce484222325u));
  append_base64(name, hash(key, 0x9e3779b97f4a7c15u));
  return name.append(suffix);
}

}  // namespace starling::pmi
