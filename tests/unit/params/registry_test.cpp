// SPDX-License-Identifier: BSD-3-Clause
// The registry: sources and their order, synonyms, bad values, unknown names.

#include "params/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "params/core_params.hpp"

namespace starling::params {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr Decl kDepth = integer("test_depth", "4", 1, 100, "help", "ompi_depth");
constexpr Decl kBytes = size_bytes("test_bytes", "64k", 1024, std::int64_t{1} << 40, "help");
constexpr Decl kQuick = boolean("test_quick", "0", "help");
constexpr Decl kMode = choice("test_mode", "auto", "auto|always|never", "help");
constexpr Decl kNote = text("test_note", "", "help");
constexpr std::array kAll = {kDepth, kBytes, kQuick, kMode, kNote};

/// A place for files that is gone after the test.
class Sources : public testing::Test {
 protected:
  Sources() {
    ::umask(022);  // what its group can write is not read
    std::string pattern = (fs::temp_directory_path() / "starling-params-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(root_ / "prefix/etc/starling");
    places_.prefix = root_ / "prefix";
    places_.user_file = root_ / "user.conf";
  }
  ~Sources() override { fs::remove_all(root_); }

  void write(const fs::path& name, const std::string& text) { std::ofstream(root_ / name) << text; }
  void system_file(const std::string& text) { write("prefix/etc/starling/params.conf", text); }
  void override_file(const std::string& text) { write("prefix/etc/starling/override.conf", text); }
  void user_file(const std::string& text) { write("user.conf", text); }
  void job_file(const std::string& text) {
    write("job.conf", text);
    places_.job_file = root_ / "job.conf";
  }
  void environment(const std::string& entry) { places_.environment.push_back(entry); }

  Registry loaded() {
    Registry registry;
    const auto done = registry.load(places_);
    EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().text());
    const auto added = registry.add("test", kAll);
    EXPECT_TRUE(added.has_value()) << (added ? "" : added.error().text());
    return registry;
  }

  fs::path root_;
  Places places_;
};

TEST_F(Sources, defaults_are_used_when_no_source_says_anything) {
  const Registry registry = loaded();
  EXPECT_EQ(registry.integer(kDepth), 4);
  EXPECT_EQ(registry.integer(kBytes), 65536);
  EXPECT_FALSE(registry.boolean(kQuick));
  EXPECT_EQ(registry.integer(kMode), 0);
  EXPECT_EQ(registry.text(kNote), "");
  EXPECT_EQ(registry.find("test_depth")->origin.text("test_depth"), "default");
}

TEST_F(Sources, each_source_beats_the_weaker_ones) {
  EXPECT_EQ(loaded().integer(kDepth), 4);
  system_file("test_depth = 5\n");
  EXPECT_EQ(loaded().integer(kDepth), 5);
  user_file("test_depth = 6\n");
  EXPECT_EQ(loaded().integer(kDepth), 6);
  job_file("test_depth = 7\n");
  EXPECT_EQ(loaded().integer(kDepth), 7);
  environment("STARLING_MCA_test_depth=8");
  EXPECT_EQ(loaded().integer(kDepth), 8);
  environment("STARLING_CMDLINE_MCA=test_note=a b\ntest_depth=9\n");
  EXPECT_EQ(loaded().integer(kDepth), 9);
  override_file("test_depth = 10\n");
  EXPECT_EQ(loaded().integer(kDepth), 10);
}

TEST_F(Sources, origins_name_file_and_line_or_variable) {
  user_file("# mine\n\n  test_depth\t=\t6  # deep\r\ntest_note = a#b\n");
  environment("STARLING_MCA_test_quick=yes");
  environment("STARLING_CMDLINE_MCA=test_mode=never\n");
  const Registry registry = loaded();
  const auto origin = [&](std::string_view name) { return registry.find(name)->origin.text(name); };
  EXPECT_EQ(origin("test_depth"), (root_ / "user.conf").string() + ":3");
  EXPECT_EQ(registry.text(kNote), "a#b");
  EXPECT_EQ(origin("test_quick"), "environment STARLING_MCA_test_quick");
  EXPECT_EQ(origin("test_mode"), "mpiexec --mca");
  EXPECT_EQ(registry.integer(kMode), 2);
}

TEST_F(Sources, a_later_line_and_a_later_option_replace_an_earlier_one) {
  user_file("test_note = first\ntest_note = second\n");
  environment("STARLING_CMDLINE_MCA=test_depth=2\ntest_depth=3\n");
  const Registry registry = loaded();
  EXPECT_EQ(registry.text(kNote), "second");
  EXPECT_EQ(registry.integer(kDepth), 3);
}

TEST_F(Sources, set_uid_processes_listen_to_the_installation_only) {
  system_file("test_depth = 5\n");
  user_file("test_depth = 6\n");
  job_file("test_depth = 7\n");
  environment("STARLING_MCA_test_depth=8");
  environment("STARLING_CMDLINE_MCA=test_depth=9\n");
  places_.at_secure = true;
  EXPECT_EQ(loaded().integer(kDepth), 5);
  override_file("test_depth = 10\n");
  EXPECT_EQ(loaded().integer(kDepth), 10);
}

TEST_F(Sources, a_synonym_sets_the_parameter_and_is_named_as_origin) {
  environment("STARLING_MCA_ompi_depth=12");
  const Registry registry = loaded();
  EXPECT_EQ(registry.integer(kDepth), 12);
  const Value& value = *registry.find("ompi_depth");
  EXPECT_EQ(value.decl.name.view(), "test_depth");
  EXPECT_EQ(value.set_as, "ompi_depth");
  EXPECT_TRUE(registry.unclaimed().empty());
}

TEST_F(Sources, between_name_and_synonym_the_stronger_source_wins_then_the_name) {
  user_file("ompi_depth = 20\ntest_depth = 21\n");
  EXPECT_EQ(loaded().integer(kDepth), 21);
  environment("STARLING_MCA_ompi_depth=22");
  EXPECT_EQ(loaded().integer(kDepth), 22);
}

TEST_F(Sources, a_line_that_is_no_setting_is_an_error_with_file_and_line) {
  for (const std::string line : {"test_depth 5", "= 5", "test depth = 5", "test-depth=5"}) {
    user_file("# ok\ntest_depth = 1\n" + line + "\n");
    Registry registry;
    const auto done = registry.load(places_);
    ASSERT_FALSE(done.has_value()) << line;
    EXPECT_THAT(done.error().text(), HasSubstr("user.conf:3: '" + line + "'"));
  }
}

TEST_F(Sources, a_job_file_that_is_named_must_exist) {
  places_.job_file = root_ / "absent.conf";
  Registry registry;
  const auto done = registry.load(places_);
  ASSERT_FALSE(done.has_value());
  EXPECT_THAT(done.error().text(), HasSubstr("absent.conf: No such file or directory"));
}

TEST_F(Sources, a_job_file_of_another_kind_is_refused_without_waiting) {
  places_.job_file = root_ / "fifo";
  ASSERT_EQ(::mkfifo(places_.job_file.c_str(), 0600), 0);
  Registry registry;
  EXPECT_EQ(registry.load(places_).error().text(),
            "parameters: " + places_.job_file +
                " is a FIFO; a parameter file is a plain file with lines `name = value`");
  places_.job_file = root_.string();
  EXPECT_THAT(registry.load(places_).error().text(), HasSubstr(" is a directory; "));
  places_.job_file = "/dev/null";
  EXPECT_THAT(registry.load(places_).error().text(), HasSubstr(" is a device; "));
  places_.job_file = "";
  fs::rename(root_ / "fifo", root_ / "user.conf");
  EXPECT_THAT(registry.load(places_).error().text(), HasSubstr("user.conf is a FIFO; "))
      << "wherever it stands";
}

TEST_F(Sources, a_user_file_that_others_can_write_is_not_read_and_named) {
  user_file("test_depth = 6\n");
  for (const auto& [mode, reason] : {std::pair{0664u, "it is writable by its group; use `chmod g-w`"},
                                     std::pair{0646u, "it is writable by others; use `chmod o-w`"}}) {
    ASSERT_EQ(::chmod(places_.user_file.c_str(), mode), 0);
    const Registry registry = loaded();
    EXPECT_EQ(registry.integer(kDepth), 4) << "the default";
    EXPECT_THAT(files_not_read(places_),
                testing::ElementsAre("the parameter file " + places_.user_file + " is not read: " + reason));
  }
  ASSERT_EQ(::chmod(places_.user_file.c_str(), 0644), 0);
  EXPECT_EQ(loaded().integer(kDepth), 6);
  EXPECT_THAT(files_not_read(places_), testing::IsEmpty());
}

TEST_F(Sources, a_user_file_of_another_user_is_not_read_but_a_named_one_is) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  user_file("test_depth = 6\n");
  ASSERT_EQ(::chown(places_.user_file.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  const Registry registry = loaded();
  EXPECT_EQ(registry.integer(kDepth), 4) << "the default";
  ASSERT_EQ(files_not_read(places_).size(), 1u);
  EXPECT_THAT(files_not_read(places_)[0], HasSubstr("its owner is user 12345, expected root or user 0"));
  places_.job_file = places_.user_file;
  EXPECT_EQ(loaded().integer(kDepth), 6) << "whoever names a file has looked at it";
}

TEST_F(Sources, a_long_value_and_a_long_name_are_cut_in_messages) {
  const std::string is_long(200000, 'x');
  user_file("test_depth = " + is_long + "\n" + is_long + " = 1\n");
  Registry registry;
  ASSERT_TRUE(registry.load(places_).has_value());
  const auto added = registry.add("test", kAll);
  ASSERT_FALSE(added.has_value());
  EXPECT_THAT(added.error().text(), HasSubstr(std::string(160, 'x') + "... (200000 characters in all)' ("));
  EXPECT_LT(added.error().text().size(), 500u);
  ASSERT_EQ(registry.unclaimed().size(), 1u);
  EXPECT_LT(describe(registry.unclaimed()[0]).size(), 500u);
  user_file(is_long + "\n");
  EXPECT_LT(registry.load(places_).error().text().size(), 500u);
}

TEST_F(Sources, a_file_larger_than_a_mebibyte_is_refused) {
  job_file(std::string((1 << 20) + 1, '#'));
  Registry registry;
  const auto done = registry.load(places_);
  ASSERT_FALSE(done.has_value());
  EXPECT_THAT(done.error().text(), HasSubstr("larger than 1 MiB"));
  job_file(std::string(1 << 20, '#'));
  EXPECT_TRUE(registry.load(places_).has_value());
}

TEST_F(Sources, a_bad_value_names_parameter_value_origin_and_expectation_and_hides_no_other) {
  user_file("test_depth = 12xyz\n");
  environment("STARLING_MCA_test_mode=allways");
  Registry registry;
  ASSERT_TRUE(registry.load(places_).has_value());
  const auto added = registry.add("test", kAll);
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().text(), "parameter test_depth = '12xyz' (" + (root_ / "user.conf").string() +
                                      ":1) is not a whole number; expected an integer from 1 to 100\n"
                                      "parameter test_mode = 'allways' (environment STARLING_MCA_test_mode) "
                                      "is none of its values (did you "
                                      "mean 'always'?); expected one of auto|always|never");
  EXPECT_EQ(registry.integer(kDepth), 4) << "the default is in force";
  EXPECT_THAT(registry.find("test_depth")->problem, HasSubstr("12xyz"));
}

TEST_F(Sources, declarations_may_come_before_the_sources) {
  Registry registry;
  ASSERT_TRUE(registry.add("test", kAll).has_value());
  environment("STARLING_MCA_test_depth=8");
  ASSERT_TRUE(registry.load(places_).has_value());
  EXPECT_EQ(registry.integer(kDepth), 8);
  places_.environment = {"STARLING_MCA_test_depth=0"};
  const auto again = registry.load(places_);
  ASSERT_FALSE(again.has_value());
  EXPECT_THAT(again.error().text(), HasSubstr("'0' (environment STARLING_MCA_test_depth) is out of range"));
}

TEST_F(Sources, adding_the_same_again_changes_nothing_and_another_owner_is_refused) {
  Registry registry = loaded();
  EXPECT_TRUE(registry.add("test", kAll).has_value());
  static constexpr std::array kSame = {kDepth};
  const auto other = registry.add("other", kSame);
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().text(), HasSubstr("already declared by test"));
  static constexpr std::array kSynonym = {integer("ompi_depth", "1", 0, 9, "help")};
  const auto synonym = registry.add("other", kSynonym);
  ASSERT_FALSE(synonym.has_value());
  EXPECT_THAT(synonym.error().text(), HasSubstr("already declared by test"));
}

TEST_F(Sources, unknown_names_are_listed_with_origin_and_nearest_name) {
  user_file("test_detph = 3\nSTARLING_MCA_test_quick = 1\n");
  environment("STARLING_MCA_zebra_stripes=1");
  environment("STARLING_PARAMS_FILE=/x");
  const Registry registry = loaded();
  const auto unknown = registry.unclaimed();
  ASSERT_EQ(unknown.size(), 3u);
  EXPECT_EQ(unknown[0].nearest, "test_quick");
  EXPECT_EQ(describe(unknown[1]),
            "unknown parameter 'test_detph' (" + (root_ / "user.conf").string() +
                ":1); did you mean 'test_depth'? (`starling-info` lists all parameters)");
  EXPECT_EQ(unknown[2].name, "zebra_stripes");
  EXPECT_EQ(unknown[2].nearest, "");
}

TEST_F(Sources, a_variable_with_half_of_the_prefix_is_named_if_it_would_be_a_parameter) {
  environment("STARLING_test_depth=3");
  environment("STARLING_home=/somewhere");
  environment("STARLING_JOB=x");
  const Registry registry = loaded();
  EXPECT_EQ(registry.integer(kDepth), 4) << "it is not read";
  const auto unknown = registry.unclaimed();
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(describe(unknown[0]),
            "the environment's 'STARLING_test_depth' is not read; did you mean 'STARLING_MCA_test_depth'? "
            "(`starling-info` lists all parameters)");
}

TEST_F(Sources, unknown_names_are_errors_when_strict) {
  environment("STARLING_MCA_test_detph=3");
  Registry registry = loaded();
  ASSERT_TRUE(add_core(registry).has_value());
  const auto warned = unknown_names(registry);
  ASSERT_TRUE(warned.has_value());
  EXPECT_EQ(warned->size(), 1u);

  environment("STARLING_MCA_mca_strict=on");
  Registry strict = loaded();
  ASSERT_TRUE(add_core(strict).has_value());
  const auto refused = unknown_names(strict);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().text(), HasSubstr("'test_detph' (environment STARLING_MCA_test_detph)"));
}

TEST_F(Sources, all_is_sorted_by_owner_then_name) {
  Registry registry = loaded();
  static constexpr std::array kAlpha = {boolean("zz", "0", "help"), boolean("aa", "0", "help")};
  ASSERT_TRUE(registry.add("alpha", kAlpha).has_value());
  std::vector<std::string> names;
  for (const Value* value : registry.all())
    names.push_back(value->owner + ":" + std::string(value->decl.name.view()));
  EXPECT_THAT(names, testing::ElementsAre("alpha:aa", "alpha:zz", "test:test_bytes", "test:test_depth",
                                          "test:test_mode", "test:test_note", "test:test_quick"));
}

TEST(CommandLine, settings_become_lines_and_what_cannot_travel_is_refused) {
  const std::array fine = {CommandLineSetting{"btl", "self,shm"}, CommandLineSetting{"note", "a = b"}};
  EXPECT_EQ(command_line_value(fine).value(), "btl=self,shm\nnote=a = b\n");
  EXPECT_FALSE(command_line_value(std::array{CommandLineSetting{"b tl", "x"}}).has_value());
  EXPECT_FALSE(command_line_value(std::array{CommandLineSetting{"", "x"}}).has_value());
  EXPECT_FALSE(command_line_value(std::array{CommandLineSetting{"btl", "x\ny=1"}}).has_value());
}

using RegistryDeath = Sources;
TEST_F(RegistryDeath, reading_what_nobody_declared_is_a_bug) {
  const Registry registry = loaded();
  EXPECT_DEATH((void)registry.integer(kMcaStrict), "'mca_strict' is read as a number but was never declared");
  EXPECT_DEATH((void)registry.text(kDepth), "'test_depth' is read as a text but declared otherwise");
}

}  // namespace
}  // namespace starling::params
