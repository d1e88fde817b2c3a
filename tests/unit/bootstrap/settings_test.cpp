// SPDX-License-Identifier: BSD-3-Clause
// What members must have alike: the hash differs exactly where the meaning does, and what differs is named.

#include "frameworks/bootstrap/settings.hpp"

#include <gtest/gtest.h>

#include "params/decl.hpp"
#include "params/differences.hpp"

namespace starling::bootstrap {
namespace {

using params::differences;

constexpr params::Decl kDecls[] = {params::equal_everywhere(params::boolean("yes_no", "0", "A help text.")),
                                   params::equal_everywhere(params::text("words", "", "A help text.")),
                                   params::integer("own", "0", 0, 9, "A help text.")};

Settings settings_of(std::vector<std::string> environment, const char* library = "v1",
                     const char* who = "rank 0") {
  params::Registry registry;
  params::Places places;
  places.environment = std::move(environment);
  EXPECT_TRUE(registry.load(places));
  EXPECT_TRUE(registry.add("test", kDecls));
  return Settings::of(registry, library, who);
}

TEST(Settings, are_equal_for_equal_meanings_wherever_they_come_from) {
  const Settings plain = settings_of({});
  EXPECT_EQ(plain.hash(), settings_of({"STARLING_MCA_yes_no=no"}, "v1", "rank 5").hash());
  EXPECT_EQ(plain.hash(), settings_of({"STARLING_MCA_own=7"}).hash())
      << "not declared to be equal everywhere";
  EXPECT_EQ(settings_of({"STARLING_MCA_yes_no=1"}).hash(), settings_of({"STARLING_MCA_yes_no=on"}).hash());
}

TEST(Settings, differ_by_value_and_by_library) {
  const Settings plain = settings_of({});
  EXPECT_NE(plain.hash(), settings_of({"STARLING_MCA_yes_no=1"}).hash());
  EXPECT_NE(plain.hash(), settings_of({"STARLING_MCA_words=x"}).hash());
  EXPECT_NE(plain.hash(), settings_of({}, "v2").hash());
}

TEST(Settings, name_what_differs_with_both_sides) {
  const Settings mine = settings_of({"STARLING_MCA_words=a\tb\nc"}),
                 theirs = settings_of({}, "v2", "rank 3 of there");
  EXPECT_EQ(differences(mine.list(), theirs.list()),
            "\n  library: 'v1' on rank 0 (this build), 'v2' on rank 3 of there (this build)"
            "\n  words: 'a b c' on rank 0 (environment STARLING_MCA_words), '' on rank 3 of there (default)");
  EXPECT_EQ(differences(mine.list(), mine.list()), "");
  EXPECT_EQ(mine.set(), "words=a b c (environment STARLING_MCA_words)");
  EXPECT_EQ(theirs.set(), "");
}

TEST(Settings, of_another_process_may_be_any_bytes) {
  const Settings mine = settings_of({});
  for (const std::string text : {"", "\n", "rank 1", "rank 1\nno tab\nx\ty", "\t\t\n\t\t\n"})
    EXPECT_NE(differences(mine.list(), text).find("library: 'v1' on rank 0 (this build), unknown to "),
              std::string::npos);
}

TEST(Settings, stay_short_however_long_a_value_is) {
  const Settings mine = settings_of({"STARLING_MCA_words=" + std::string(1 << 20, 'x')});
  EXPECT_LT(mine.list().size(), 1000u);
  EXPECT_NE(mine.hash(), settings_of({"STARLING_MCA_words=" + std::string((1 << 20) - 1, 'x')}).hash());
}

}  // namespace
}  // namespace starling::bootstrap
