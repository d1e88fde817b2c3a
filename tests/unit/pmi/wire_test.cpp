// SPDX-License-Identifier: BSD-3-Clause
// frameworks/pmi/wire: framing, fields, limits. Layer: tests.

#include "frameworks/pmi/wire.hpp"

#include <gtest/gtest.h>

namespace starling::pmi::wire {
namespace {

/// The rule that a stream breaks, or "" if it breaks none.
std::string broken_rule(std::string_view bytes, Limits limits = {}) {
  Reader reader(limits);
  reader.append(bytes);
  for (;;) {
    auto message = reader.next();
    if (!message) return message.error().detail;
    if (!*message) return "";
  }
}

TEST(WireReader, reads_a_line) {
  Reader reader;
  reader.append("cmd=put kvsname=kvs_1 key=k value=a=b\n");
  auto message = reader.next();
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->name(), "put");
  EXPECT_EQ((*message)->find("value"), "a=b");
  EXPECT_EQ((*message)->find("missing"), std::nullopt);
  EXPECT_FALSE(reader.in_message());
}

TEST(WireReader, reads_one_byte_at_a_time) {
  Reader reader;
  const std::string text = "cmd=init pmi_version=1\nmcmd=spawn\nnprocs=2\narg1=a b\nendcmd\ncmd=x\n";
  std::vector<std::string> names;
  for (const char byte : text) {
    reader.append({&byte, 1});
    auto message = reader.next();
    ASSERT_TRUE(message) << message.error().text();
    if (*message) names.emplace_back((*message)->name());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"init", "spawn", "x"}));
}

TEST(WireReader, reads_many_messages_of_one_append) {
  Reader reader;
  reader.append("cmd=a\ncmd=b k=1\ncmd=c");
  EXPECT_EQ((*reader.next())->name(), "a");
  EXPECT_EQ((*reader.next())->find("k"), "1");
  EXPECT_FALSE(*reader.next());
  EXPECT_TRUE(reader.in_message());
  reader.append("\n");
  auto last = reader.next();
  EXPECT_EQ((*last)->name(), "c");
  EXPECT_EQ((*last)->offset(), 16u);
}

TEST(WireReader, multi_line_values_may_contain_spaces) {
  Reader reader;
  reader.append("mcmd=spawn\nnprocs=1\nexecname=/a b/c\nendcmd\n");
  auto message = reader.next();
  ASSERT_TRUE(message && *message);
  EXPECT_TRUE((*message)->multi_line());
  EXPECT_EQ((*message)->find("execname"), "/a b/c");
  EXPECT_EQ((*message)->fields().size(), 2u);
}

TEST(WireReader, spaces_before_the_newline_are_tolerated) {
  EXPECT_EQ(broken_rule("cmd=barrier_in \ncmd=a  b=c\n"), "");
}

TEST(WireReader, broken_rules_name_the_offset) {
  EXPECT_EQ(broken_rule("cmd=a\nhello\n"), "byte 6: a message starts with \"cmd=\" or \"mcmd=\"");
  EXPECT_EQ(broken_rule("cmd=a\ncmd=b word\n"), "byte 12: a field has the form key=value");
  EXPECT_EQ(broken_rule("cmd=b =v\n"), "byte 6: a field has the form key=value");
  EXPECT_EQ(broken_rule("cmd=\n"), "byte 0: the command has no name");
  EXPECT_EQ(broken_rule("mcmd=\nendcmd\n"), "byte 0: the command has no name");
  EXPECT_EQ(broken_rule("mcmd=spawn\nword\nendcmd\n"), "byte 11: a field has the form key=value");
  EXPECT_EQ(broken_rule(std::string_view("cmd=a k=\0\n", 10)), "byte 6: a NUL byte is not allowed");
  EXPECT_EQ(broken_rule("\n"), "byte 0: a message starts with \"cmd=\" or \"mcmd=\"");
  EXPECT_EQ(broken_rule("mcmdx"), "byte 0: a message starts with \"cmd=\" or \"mcmd=\"");
}

TEST(WireReader, limits_hold_before_a_message_is_complete) {
  const Limits limits{.line_bytes = 16, .command_bytes = 40, .fields = 2};
  EXPECT_EQ(broken_rule("cmd=012345678901", limits), "byte 0: a line is longer than 16 bytes");
  EXPECT_EQ(broken_rule("cmd=01234567890\n", limits), "");
  EXPECT_EQ(broken_rule("cmd=a b=1 c=2\n", limits), "");
  EXPECT_EQ(broken_rule("cmd=a b= c= d=\n", limits), "byte 12: more than 2 fields");
  EXPECT_EQ(broken_rule("mcmd=a\nb=1234567\nc=1234567\nd=123456789abc", limits),
            "byte 0: a command is longer than 40 bytes");
}

TEST(WireReader, stays_failed_after_an_error) {
  Reader reader;
  reader.append("nonsense\n");
  ASSERT_FALSE(reader.next());
  reader.append("cmd=init\n");
  EXPECT_FALSE(reader.next());
}

TEST(WireMessage, required_fields) {
  Reader reader;
  reader.append("cmd=a n=12 word=12x empty= big=99999999999999999999\n");
  auto message = reader.next();
  ASSERT_TRUE(message && *message);
  EXPECT_EQ(*(*message)->integer("n", 0, 12), 12);
  EXPECT_FALSE((*message)->integer("n", 0, 11));
  EXPECT_FALSE((*message)->integer("word", 0, 100));
  EXPECT_FALSE((*message)->integer("big", 0, 100));
  EXPECT_FALSE((*message)->text("empty"));
  EXPECT_EQ((*message)->text("gone").error().detail, "byte 0: cmd=a: the field gone= is missing");
}

TEST(WireLine, writes_what_the_reader_reads) {
  Line line("get");
  line.add("kvsname", "k").add("rc", -1);
  EXPECT_EQ(std::move(line).take(), "cmd=get kvsname=k rc=-1\n");
}

TEST(WireLine, passes_on_a_backslash_that_somebody_sent) {
  Reader reader;
  reader.append("cmd=put value=a\\b\n");
  auto message = reader.next();
  ASSERT_TRUE(message && *message);
  EXPECT_EQ(std::move(Line("x").add("value", *(*message)->text("value"))).take(), "cmd=x value=a\\b\n");
}

TEST(WirePercent, any_text_survives) {
  for (const std::string& text : {std::string(), std::string("plain"), std::string("a b\n\\;%"),
                                  std::string(1, '\0'), std::string("%"), std::string("%41")}) {
    const std::string encoded = percent_encode(text);
    EXPECT_TRUE(is_plain(encoded)) << encoded;
    EXPECT_EQ(percent_decode(encoded), text);
  }
  EXPECT_EQ(percent_encode("plain"), "plain");
  EXPECT_EQ(percent_decode("50%zz"), "50%zz");
}

}  // namespace
}  // namespace starling::pmi::wire
