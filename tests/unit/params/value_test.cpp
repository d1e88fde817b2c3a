// SPDX-License-Identifier: BSD-3-Clause
// Whole-value parsing of every type.

#include "params/value.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace starling::params {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr Decl kNumber = integer("n", "0", kMin, kMax, "help");
constexpr Decl kSmall = integer("s", "5", 0, 10, "help");
constexpr Decl kSize = size_bytes("b", "1k", 0, kMax, "help");
constexpr Decl kFlag = boolean("f", "0", "help");
constexpr Decl kChoice = choice("m", "auto", "auto|always|never", "help");
constexpr Decl kText = text("t", "", "help");
constexpr Decl kList = selection("l", "", "help");

std::int64_t good(const Decl& decl, std::string_view written) {
  const auto parsed = parse(decl, written);
  EXPECT_TRUE(parsed.has_value()) << written << ": " << (parsed ? "" : parsed.error().text());
  return parsed ? *parsed : -1;
}
std::string bad(const Decl& decl, std::string_view written) {
  const auto parsed = parse(decl, written);
  EXPECT_FALSE(parsed.has_value()) << written;
  return parsed ? std::string{} : parsed.error().detail;
}

TEST(Value, integers_are_decimal_or_hexadecimal) {
  EXPECT_EQ(good(kNumber, "0"), 0);
  EXPECT_EQ(good(kNumber, "-12"), -12);
  EXPECT_EQ(good(kNumber, "0x1F"), 31);
  EXPECT_EQ(good(kNumber, "-0x10"), -16);
  EXPECT_EQ(good(kNumber, "010"), 10) << "a leading zero is no octal prefix";
}

TEST(Value, the_ends_of_64_bits_are_read_and_one_more_is_refused) {
  EXPECT_EQ(good(kNumber, "9223372036854775807"), kMax);
  EXPECT_EQ(good(kNumber, "-9223372036854775808"), kMin);
  EXPECT_EQ(good(kNumber, "0x7fffffffffffffff"), kMax);
  EXPECT_THAT(bad(kNumber, "9223372036854775808"), HasSubstr("is beyond 64 bits"));
  EXPECT_THAT(bad(kNumber, "-9223372036854775809"), HasSubstr("is beyond 64 bits"));
  EXPECT_THAT(bad(kNumber, "99999999999999999999999"), HasSubstr("is beyond 64 bits"));
}

TEST(Value, nothing_may_stand_around_a_number) {
  for (const std::string_view text :
       {"", " ", "12xyz", " 12", "12 ", "+1", "--1", "-", "0x", "x1", "1e3", "1.5", "12k"}) {
    EXPECT_THAT(bad(kNumber, text), HasSubstr("is not a whole number; expected an integer")) << text;
  }
}

TEST(Value, sizes_take_one_suffix_of_any_case) {
  EXPECT_EQ(good(kSize, "64"), 64);
  EXPECT_EQ(good(kSize, "64k"), 65536);
  EXPECT_EQ(good(kSize, "2M"), 2 << 20);
  EXPECT_EQ(good(kSize, "3g"), std::int64_t{3} << 30);
  EXPECT_EQ(good(kSize, "0x10k"), 16384);
  EXPECT_EQ(good(kSize, "8589934591g"), std::int64_t{8589934591} << 30);
  EXPECT_THAT(bad(kSize, "8589934592g"), HasSubstr("is beyond 64 bits"));
  for (const std::string_view text : {"k", "64kb", "64kk", "64 k", "64t"}) {
    EXPECT_THAT(bad(kSize, text),
                HasSubstr("is not a whole number; expected a number of bytes of at least 0"))
        << text;
  }
}

TEST(Value, ranges_include_their_ends) {
  EXPECT_EQ(good(kSmall, "0"), 0);
  EXPECT_EQ(good(kSmall, "10"), 10);
  EXPECT_EQ(bad(kSmall, "11"), "is out of range; expected an integer from 0 to 10");
  EXPECT_EQ(bad(kSmall, "-1"), "is out of range; expected an integer from 0 to 10");
}

TEST(Value, booleans_are_words_of_any_case) {
  for (const std::string_view text : {"1", "yes", "true", "on", "True", "ON"})
    EXPECT_EQ(good(kFlag, text), 1) << text;
  for (const std::string_view text : {"0", "no", "false", "off", "No"})
    EXPECT_EQ(good(kFlag, text), 0) << text;
  for (const std::string_view text : {"", "2", "y", "yes ", "maybe"}) {
    EXPECT_THAT(bad(kFlag, text), HasSubstr("expected one of 0|1|no|yes")) << text;
  }
}

TEST(Value, choices_are_exact_and_a_near_miss_is_named) {
  EXPECT_EQ(good(kChoice, "auto"), 0);
  EXPECT_EQ(good(kChoice, "never"), 2);
  EXPECT_THAT(bad(kChoice, "nevr"), HasSubstr("did you mean 'never'?"));
  EXPECT_EQ(bad(kChoice, ""), "is none of its values; expected one of auto|always|never");
  EXPECT_THAT(bad(kChoice, "auto|always"), HasSubstr("is none of its values"));
}

TEST(Value, texts_take_anything) {
  EXPECT_EQ(good(kText, ""), 0);
  EXPECT_EQ(good(kText, "a = b # c"), 0);
}

TEST(Value, selections_are_names_with_one_caret_in_front_at_most) {
  EXPECT_EQ(good(kList, ""), 0);
  EXPECT_THAT(parse_selection("self,shm,self").value().names, ElementsAre("self", "shm"));
  EXPECT_FALSE(parse_selection("self").value().excluded);
  EXPECT_TRUE(parse_selection("^ucx,ofi").value().excluded);
  EXPECT_THAT(parse_selection("^ucx,ofi").value().names, ElementsAre("ucx", "ofi"));
  for (const std::string_view text : {"^", ",", "a,", ",a", "a,,b", "a,^b", "^a,^b", "a b", "a;b", "../x"}) {
    EXPECT_THAT(bad(kList, text), HasSubstr("expected component names")) << text;
  }
}

TEST(Value, what_is_expected_names_only_the_ends_that_exist) {
  EXPECT_EQ(expected(kNumber), "an integer");
  EXPECT_EQ(expected(kSmall), "an integer from 0 to 10");
  EXPECT_EQ(expected(integer("x", "0", kMin, 7, "h")), "an integer of at most 7");
  EXPECT_EQ(expected(size_bytes("x", "4k", 4096, 1 << 30, "h")),
            "a number of bytes from 4k to 1g (k, m and g mean 2^10, 2^20 and 2^30)");
}

TEST(Value, declarations_that_make_no_sense_are_found) {
  EXPECT_TRUE(check(kSmall).has_value());
  EXPECT_THAT(check(integer("x", "11", 0, 10, "h")).error().detail,
              HasSubstr("default '11' is out of range"));
  EXPECT_THAT(check(integer("x", "1", 10, 0, "h")).error().detail, HasSubstr("its range is empty"));
  EXPECT_THAT(check(boolean("", "1", "h")).error().detail, HasSubstr("its name"));
  EXPECT_THAT(check(boolean("a-b", "1", "h")).error().detail, HasSubstr("its name"));
  EXPECT_THAT(check(boolean("a", "1", "h", "b c")).error().detail, HasSubstr("its synonym"));
  EXPECT_THAT(check(choice("a", "", "", "h")).error().detail, HasSubstr("no choices"));
  Decl strange = kSmall;
  strange.type = static_cast<Type>(9);
  EXPECT_THAT(check(strange).error().detail, HasSubstr("type 9 is not known"));
}

}  // namespace
}  // namespace starling::params
