// SPDX-License-Identifier: BSD-3-Clause
// Every parameter that this build declares: what is wrong with a value is always said, with its source and
// the range.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/plugin/prefix.hpp"
#include "frameworks/select.hpp"
#include "mpi/runtime/declare.hpp"
#include "params/value.hpp"

namespace starling::params {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The number next to a limit, outside the range; its text where 64 bits end there.
std::string beyond(std::int64_t limit, int direction) {
  if (limit == std::numeric_limits<std::int64_t>::min()) return "-9223372036854775809";
  if (limit == std::numeric_limits<std::int64_t>::max()) return "9223372036854775808";
  return std::to_string(limit + direction);
}

/// Values that a parameter of this type must refuse: empty, something behind a number, below and above the
/// range, of another type, beyond 64 bits, no such choice; those of them that are wrong for the type.
std::vector<std::string> bad_values(const Decl& decl) {
  switch (decl.type) {
    case Type::boolean: return {"", "12xyz", "-1", "2", "maybe", "99999999999999999999", "tru"};
    case Type::integer:
      return {"", "12xyz", beyond(decl.min, -1), beyond(decl.max, 1), "yes", "99999999999999999999", "auto"};
    case Type::choice: return {"", "12xyz", "-1", "999", "yes,no", "99999999999999999999", "no_such_choice"};
    case Type::selection: return {"^", "a,,b", "a b", "a,^b", ",a", "a;b", "../a"};
    case Type::text: return {};
  }
  return {};
}

/// The registry of this build, with the sources that a test gives it.
struct Build {
  Registry registry;
  std::vector<std::string> problems;

  explicit Build(std::vector<std::string> environment) {
    Places places;
    places.environment = std::move(environment);
    EXPECT_TRUE(registry.load(places).has_value());
    if (auto added = mpi::declare_params(registry); !added) problems.push_back(added.error().text());
    const auto index = plugin::Index::inspect(registry, plugin::installation().prefix, {});
    problems.insert(problems.end(), index.problems().begin(), index.problems().end());
  }
};

TEST(DeclaredParameters, all_have_sound_defaults_and_help) {
  const Build build({});
  EXPECT_TRUE(build.problems.empty()) << build.problems[0];
  ASSERT_GE(build.registry.all().size(), 8u);
  for (const Value* value : build.registry.all()) {
    EXPECT_TRUE(check(value->decl).has_value()) << value->decl.name.view();
    EXPECT_GE(value->decl.help.view().size(), 10u) << value->decl.name.view() << " has no help";
  }
}

TEST(DeclaredParameters, every_bad_value_is_reported_with_source_and_range) {
  int reported = 0;
  const Build declared({});
  for (const Value* value : declared.registry.all()) {
    const std::string name(value->decl.name.view());
    for (const std::string& bad : bad_values(value->decl)) {
      const Build build({"STARLING_MCA_" + name + "=" + bad});
      ASSERT_EQ(build.problems.size(), 1u) << name << " = '" << bad << "'";
      EXPECT_THAT(build.problems[0], AllOf(HasSubstr("parameter " + name + " = '" + bad +
                                                     "' (environment STARLING_MCA_" + name + ")"),
                                           HasSubstr("expected " + expected(value->decl))));
      ++reported;
    }
  }
  EXPECT_GE(reported, 7 * 7);
}

TEST(DeclaredParameters, every_default_can_be_written_in_a_source) {
  const Build declared({});
  std::vector<std::string> environment;
  for (const Value* value : declared.registry.all()) {
    environment.push_back("STARLING_MCA_" + std::string(value->decl.name.view()) + "=" +
                          std::string(value->decl.fallback.view()));
  }
  const Build again(environment);
  EXPECT_TRUE(again.problems.empty()) << again.problems[0];
  for (const Value* value : again.registry.all()) {
    EXPECT_EQ(value->number, declared.registry.find(value->decl.name.view())->number);
    EXPECT_EQ(value->origin.source, Source::environment);
  }
}

/// The shipped files, and the system file with its examples switched on.
class ShippedFile : public testing::TestWithParam<const char*> {};

TEST_P(ShippedFile, has_only_parameters_that_exist_and_values_that_are_taken) {
  std::ifstream in(std::string(STARLING_SHIPPED_FILES "/") + GetParam());
  ASSERT_TRUE(in.is_open());
  std::string text;
  for (std::string line; std::getline(in, line);) {
    const auto name = line.starts_with("# ") ? line.substr(2, line.find(' ', 2) - 2) : std::string{};
    const bool example = valid_name(name) && line.substr(2 + name.size()).starts_with(" =");
    text += (example ? line.substr(2) : line) + "\n";
  }
  const std::string copy = testing::TempDir() + "/starling-shipped-" + std::to_string(::getpid()) + ".conf";
  std::ofstream(copy) << text;

  Registry registry;
  Places places;
  places.job_file = copy;
  const auto loaded = registry.load(places);
  std::filesystem::remove(copy);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().text();
  ASSERT_TRUE(mpi::declare_params(registry).has_value());
  const auto index = plugin::Index::inspect(registry, plugin::installation().prefix, {});
  EXPECT_TRUE(index.problems().empty()) << index.problems()[0];
  for (const Unclaimed& name : registry.unclaimed()) ADD_FAILURE() << describe(name);
  int set = 0;
  for (const Value* value : registry.all()) set += value->origin.source == Source::job_file;
  EXPECT_GE(set, 5) << "the file was not understood";
}
INSTANTIATE_TEST_SUITE_P(Files, ShippedFile,
                         testing::Values("params.conf", "many-core-node.conf", "large-sparse-job.conf"));

TEST(Plugins, all_of_this_build_are_listed_and_fit) {
  Registry registry;
  const auto index = plugin::Index::inspect(registry, plugin::installation().prefix, {});
  std::string listed;
  for (const plugin::Candidate& candidate : index.candidates()) {
    EXPECT_EQ(candidate.refusal, "");
    EXPECT_EQ(candidate.descriptor.version.view(), STARLING_TEST_VERSION);
    listed += candidate.framework + "_" + candidate.name + ";";
  }
  std::string_view rest = STARLING_TEST_PLUGINS;
  while (!rest.empty()) {
    const auto end = rest.find(',');
    EXPECT_THAT(listed, HasSubstr(std::string(rest.substr(0, end)) + ";"));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
}

}  // namespace
}  // namespace starling::params
