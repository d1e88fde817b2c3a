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
  EXPECT_EQ((*message)->form(), Form::lines);
  EXPECT_EQ((*message)->find("execname"), "/a b/c");
  EXPECT_EQ((*message)->fields().size(), 2u);
}

TEST(WireReader, spaces_before_the_newline_are_tolerated) {
  EXPECT_EQ(broken_rule("cmd=barrier_in \ncmd=a  b=c\n"), "");
}

TEST(WireReader, broken_rules_name_the_offset) {
  const std::string start = "a message starts with \"cmd=\", \"mcmd=\" or a length of six characters";
  EXPECT_EQ(broken_rule("cmd=a\nhello\n"), "byte 6: " + start);
  EXPECT_EQ(broken_rule("cmd=a\ncmd=b word\n"), "byte 12: a field has the form key=value");
  EXPECT_EQ(broken_rule("cmd=b =v\n"), "byte 6: a field has the form key=value");
  EXPECT_EQ(broken_rule("cmd=\n"), "byte 0: the command has no name");
  EXPECT_EQ(broken_rule("mcmd=\nendcmd\n"), "byte 0: the command has no name");
  EXPECT_EQ(broken_rule("mcmd=spawn\nword\nendcmd\n"), "byte 11: a field has the form key=value");
  EXPECT_EQ(broken_rule(std::string_view("cmd=a k=\0\n", 10)), "byte 6: a NUL byte is not allowed");
  EXPECT_EQ(broken_rule("\n"), "byte 0: " + start);
  EXPECT_EQ(broken_rule("mcmdx"), "byte 0: " + start);
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

TEST(WireReader, reads_frames_of_both_dialects_byte_by_byte) {
  Reader reader;
  std::vector<std::string> read;
  for (const char byte : std::string("    13cmd=a;k=v;w=;12    cmd=b;k=a=b;000008cmd=c;x=")) {
    reader.append({&byte, 1});
    auto message = reader.next();
    ASSERT_TRUE(message) << message.error().text();
    if (!*message) continue;
    EXPECT_EQ((*message)->form(), Form::frame);
    read.emplace_back((*message)->name());
    for (const Field& field : (*message)->fields())
      read.back().append(" ").append(field.key).append("=").append(field.value);
  }
  EXPECT_EQ(read, (std::vector<std::string>{"a k=v w=", "b k=a=b", "c x="}));
  EXPECT_FALSE(reader.in_message());
}

TEST(WireReader, lines_and_frames_may_follow_each_other) {
  Reader reader;
  reader.append("cmd=init a=b\n     6cmd=x;mcmd=spawn\nk=v\nendcmd\n6     cmd=y;cmd=z\n");
  std::string forms;
  for (;;) {
    auto message = reader.next();
    ASSERT_TRUE(message) << message.error().text();
    if (!*message) break;
    forms.append((*message)->name()) += static_cast<char>('0' + static_cast<int>((*message)->form()));
  }
  EXPECT_EQ(forms, "init0x2spawn1y2z0");
}

TEST(WireReader, doubled_semicolons_are_one_in_a_value) {
  Reader reader;
  reader.append("    26cmd=a;k=x;;y;;;;;l=;;;m=z;    11cmd=b;k=v;;");
  auto message = reader.next();
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->find("k"), "x;y;;");
  EXPECT_EQ((*message)->find("l"), ";");
  EXPECT_EQ((*message)->find("m"), "z");
  message = reader.next();
  ASSERT_TRUE(message && *message);
  EXPECT_EQ((*message)->offset(), 32u);
  EXPECT_EQ((*message)->find("k"), "v;") << "the frame's end ends the field, too";
}

TEST(WireReader, broken_frames_name_the_offset) {
  EXPECT_EQ(broken_rule("      cmd=a;"),
            "byte 0: the length of a frame is \"      \", which is no number above 0");
  EXPECT_EQ(broken_rule(" 1 2  cmd=a;"),
            "byte 0: the length of a frame is \" 1 2  \", which is no number above 0");
  EXPECT_EQ(broken_rule("     0cmd=a;"),
            "byte 0: the length of a frame is \"     0\", which is no number above 0");
  EXPECT_NE(broken_rule("    -6cmd=a;").find("a length of six characters"), std::string::npos);
  EXPECT_NE(broken_rule(" 12cmd=a;").find("a length of six characters"), std::string::npos);
  EXPECT_EQ(broken_rule("     6cmf=a;"), "byte 6: a frame starts with \"cmd=\"");
  EXPECT_EQ(broken_rule("     3cmd"), "byte 6: a field has the form key=value");
  EXPECT_EQ(broken_rule("     5cmd=;"), "byte 6: the command has no name");
  EXPECT_EQ(broken_rule("    11cmd=a;word;"), "byte 12: a field has the form key=value");
  EXPECT_EQ(broken_rule("    10cmd=a; =b;"), "");
  EXPECT_EQ(broken_rule("     9cmd=a;=b;"), "byte 12: a field has the form key=value");
  EXPECT_EQ(broken_rule(std::string_view("    10cmd=a;k=\0;", 16)), "byte 12: a NUL byte is not allowed");
}

TEST(WireReader, frames_whose_length_lies) {
  // Too short: what follows is no message. Too long: it takes the next one along, whose length is no field.
  EXPECT_EQ(broken_rule("     4cmd=a;"), "byte 6: the command has no name");
  EXPECT_NE(broken_rule("     5cmd=ab;").find("byte 11: a message starts with"), std::string::npos);
  EXPECT_EQ(broken_rule("    12cmd=a;     6cmd=b;"), "byte 12: a field has the form key=value");
  Reader reader;
  reader.append("999999cmd=a;");
  EXPECT_FALSE(*reader.next());
  EXPECT_TRUE(reader.in_message());
}

TEST(WireReader, limits_of_frames_hold_before_they_are_complete) {
  const Limits limits{.line_bytes = 16, .command_bytes = 40, .fields = 2};
  EXPECT_EQ(broken_rule("    41", limits), "byte 0: a frame is longer than 40 bytes");
  EXPECT_EQ(broken_rule("    40", limits), "");
  EXPECT_EQ(broken_rule("    15cmd=a;b=;c=;d=;", limits), "byte 18: more than 2 fields");
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
  EXPECT_TRUE((*message)->integer("n", 12, 20));
  EXPECT_FALSE((*message)->integer("n", 13, 20));
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

TEST(WireFrame, writes_what_the_reader_reads) {
  const std::string written =
      std::move(Frame("kvs-put").add("key", "k").add("value", "a;b c\n").add("rc", -1)).take();
  EXPECT_EQ(written, "    38cmd=kvs-put;key=k;value=a;;b c\n;rc=-1;");
  Reader reader;
  reader.append(written);
  EXPECT_EQ((*reader.next())->find("value"), "a;b c\n");
  EXPECT_FALSE(is_framable(std::string_view("a\0b", 3)));
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
