// SPDX-License-Identifier: BSD-3-Clause
// Golden bytes: what Starling puts on a PMI connection. A change here breaks jobs that mix versions. Layer:
// tests.

#include <gtest/gtest.h>

#include "core/node_map.hpp"
#include "frameworks/pmi/value.hpp"
#include "frameworks/pmi/wire.hpp"

namespace starling::pmi {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST(GoldenPmi, values) {
  EXPECT_EQ(ValueCodec::encode({}), "0.");
  EXPECT_EQ(ValueCodec::encode(bytes_of("a")), "1.YQ");
  EXPECT_EQ(ValueCodec::encode(bytes_of("ab")), "2.YWI");
  EXPECT_EQ(ValueCodec::encode(bytes_of("abc")), "3.YWJj");
  EXPECT_EQ(ValueCodec::encode(bytes_of("\xff\xff\xbe\x00")), "3.__--");
}

TEST(GoldenPmi, pieces_under_an_odd_maximum) {
  const auto codec = ValueCodec::make({64, 33});
  const std::string text = ValueCodec::encode(bytes_of("The quick brown fox jumps over"));
  EXPECT_EQ(text, "30.VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVy");
  EXPECT_EQ(codec->pieces(text),
            (std::vector<std::string_view>{"30.VGhlIHF1aWNrIGJyb3duIGZveCBqd", "W1wcyBvdmVy"}));
}

TEST(GoldenPmi, keys) {
  const auto codec = ValueCodec::make({64, 1024});
  EXPECT_EQ(codec->key_name(0, "address", 0), "s0:address");
  EXPECT_EQ(codec->key_name(12, "address", 3), "s12:address.3");
  EXPECT_EQ(codec->key_name(12, "a b", 0), "s12#SizgEkRm_YOi7_QLw1f_jA");
}

TEST(GoldenPmi, lines) {
  EXPECT_EQ(std::move(wire::Line("init").add("pmi_version", 1).add("pmi_subversion", 2)).take(),
            "cmd=init pmi_version=1 pmi_subversion=2\n");
  EXPECT_EQ(wire::percent_encode("a b;c"), "a%20b%3Bc");
}

TEST(GoldenPmi, frames) {
  EXPECT_EQ(
      std::move(wire::Frame("fullinit").add("pmijobid", "1.0").add("pmirank", 2).add("threaded", "FALSE"))
          .take(),
      "    51cmd=fullinit;pmijobid=1.0;pmirank=2;threaded=FALSE;");
  EXPECT_EQ(std::move(wire::Frame("kvs-fence")).take(), "    14cmd=kvs-fence;");
}

TEST(GoldenPmi, node_maps) { EXPECT_EQ(NodeMap({{0, 4, 2}, {9, 1, 1}}).text(), "(vector,(0,4,2),(9,1,1))"); }

}  // namespace
}  // namespace starling::pmi
