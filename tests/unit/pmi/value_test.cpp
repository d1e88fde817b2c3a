// SPDX-License-Identifier: BSD-3-Clause
// frameworks/pmi/value: every size under every maximum. Layer: tests.

#include "frameworks/pmi/value.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "frameworks/pmi/pmi.hpp"
#include "frameworks/pmi/wire.hpp"

namespace starling::pmi {
namespace {

std::vector<std::byte> random_bytes(std::size_t count, std::mt19937& random) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// Puts into a map and gets from it as a client does, checking the maxima on the way.
std::vector<std::byte> through_kvs(const std::vector<std::byte>& value, Maxima maxima) {
  auto codec = ValueCodec::make(maxima);
  EXPECT_TRUE(codec);
  std::map<std::string, std::string> kvs;
  const std::string text = ValueCodec::encode(value);
  std::size_t index = 0;
  for (const std::string_view piece : codec->pieces(text)) {
    const std::string key = codec->key_name(7, "address", index++);
    EXPECT_LT(key.size(), maxima.keylen_max);
    EXPECT_LT(piece.size(), maxima.vallen_max);
    EXPECT_TRUE(wire::is_plain(piece) && piece.find(';') == std::string_view::npos);
    EXPECT_TRUE(kvs.emplace(key, piece).second);
  }
  std::string joined = kvs.at(codec->key_name(7, "address", 0));
  const auto count = codec->piece_count(joined);
  EXPECT_TRUE(count) << count.error().text();
  EXPECT_EQ(*count, kvs.size());
  for (std::size_t piece = 1; piece < *count; ++piece) joined += kvs.at(codec->key_name(7, "address", piece));
  auto decoded = ValueCodec::decode(joined);
  EXPECT_TRUE(decoded) << decoded.error().text();
  return decoded ? std::move(*decoded) : std::vector<std::byte>{};
}

TEST(Value, every_maximum_from_32_to_2048_carries_every_size) {
  std::mt19937 random(20);
  for (std::size_t maximum = 32; maximum <= 2048; ++maximum) {
    // Around one and two pieces, where put and get could disagree, and a few at random.
    const std::size_t one_piece = (maximum - 1) / 4 * 3;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, one_piece - 4, one_piece, one_piece + 3,
                                   2 * one_piece, std::size_t{random() % 5000}}) {
      const auto value = random_bytes(size, random);
      ASSERT_EQ(through_kvs(value, {64, maximum}), value) << "maximum " << maximum << ", size " << size;
    }
  }
}

TEST(Value, the_longest_value_under_all_maxima) {
  std::mt19937 random(21);
  const auto value = random_bytes(kMaxValueBytes, random);
  const std::string text = ValueCodec::encode(value);
  for (std::size_t maximum = 32; maximum <= 2048; ++maximum) {
    const auto codec = ValueCodec::make({64, maximum});
    const auto pieces = codec->pieces(text);
    ASSERT_EQ(*codec->piece_count(pieces.front()), pieces.size()) << maximum;
    std::string joined;
    for (const std::string_view piece : pieces) joined += piece;
    ASSERT_EQ(joined, text);
  }
  EXPECT_EQ(through_kvs(value, {64, 33}), value);
  EXPECT_EQ(*ValueCodec::decode(text), value);
}

TEST(Value, keys_fit_and_differ) {
  const auto codec = ValueCodec::make({40, 32});
  ASSERT_TRUE(codec);
  std::map<std::string, int> names;
  for (const std::uint32_t rank : {0u, 1u, 10u, 4294967295u}) {
    for (const std::string& key :
         {std::string("a"), std::string("address-of-shm"), std::string(300, 'k'), std::string(301, 'k'),
          std::string("sp ace"), std::string("a:b"), std::string()}) {
      for (const std::size_t piece : {0u, 1u, 2900u}) {
        const std::string name = codec->key_name(rank, key, piece);
        EXPECT_LT(name.size(), 40u);
        EXPECT_TRUE(wire::is_plain(name)) << name;
        EXPECT_EQ(++names[name], 1) << name;
      }
    }
  }
}

TEST(Value, too_small_maxima_are_refused) {
  EXPECT_FALSE(ValueCodec::make({39, 1024}));
  EXPECT_FALSE(ValueCodec::make({64, 31}));
}

TEST(Value, foreign_and_damaged_texts_are_refused) {
  for (const char* text : {"", "5", "x", ".", "03.AAAA", "3.AAA", "3.AAAAA", "3.AA=A", "1.AB", "65537.AA",
                           "-1.", "3 .AAAA", "99999999999999999999."}) {
    EXPECT_FALSE(ValueCodec::decode(text)) << text;
  }
  // As many characters as the length asks for, and a length that no value has.
  EXPECT_EQ(ValueCodec::decode("65536." + std::string(87382, 'A'))->size(), kMaxValueBytes);
  EXPECT_FALSE(ValueCodec::decode("65537." + std::string(87383, 'A')));
  const std::string_view longer = "0.";  // what is behind the text is not the text's
  EXPECT_TRUE(ValueCodec::decode(longer));
  EXPECT_FALSE(ValueCodec::decode(longer.substr(0, 1)));
  const auto codec = ValueCodec::make({64, 32});
  EXPECT_FALSE(codec->piece_count("3.AAAAA"));
  EXPECT_FALSE(codec->piece_count("100.AAAA"));
}

}  // namespace
}  // namespace starling::pmi
