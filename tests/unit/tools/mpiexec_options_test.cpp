// SPDX-License-Identifier: BSD-3-Clause
// tools/mpiexec: command line, host and node placement, environment of a rank. Layer: tests.

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include "tools/mpiexec/options.hpp"
#include "tools/mpiexec/placement.hpp"
#include "tools/mpiexec/rank_environment.hpp"

namespace starling::mpiexec {
namespace {

Options parsed(const std::vector<std::string>& words) {
  auto options = parse_options(words);
  EXPECT_TRUE(options) << options.error().text();
  return options ? std::move(*options) : Options{};
}

std::string refusal(const std::vector<std::string>& words) {
  const auto options = parse_options(words);
  return options ? "" : options.error().detail;
}

TEST(MpiexecOptions, both_dialects_and_any_number_of_dashes) {
  for (const char* option : {"-n", "-np", "--np", "-c", "--n"})
    EXPECT_EQ(parsed({option, "4", "a"}).programs[0].ranks, 4u);
  for (const char* option : {"-bind-to", "--bind-to"})
    EXPECT_EQ(parsed({option, "core", "a"}).place.bind.unit, Unit::core);
  EXPECT_EQ(parsed({"--bind-to=numa", "a"}).place.bind.unit, Unit::numa);
  for (const char* option : {"-l", "-prepend-rank", "--tag-output"})
    EXPECT_TRUE(parsed({option, "a"}).labels);
  EXPECT_EQ(parsed({"--oversubscribe", "--allow-run-as-root", "a"}).programs[0].argv,
            (std::vector<std::string>{"a"}));
}

TEST(MpiexecOptions, what_follows_the_program_is_the_program_s) {
  const Options options = parsed({"-n", "2", "a", "-n", "3", "--help", ":", "-n", "1", "b", "x"});
  ASSERT_EQ(options.programs.size(), 2u);
  EXPECT_EQ(options.programs[0].argv, (std::vector<std::string>{"a", "-n", "3", "--help"}));
  EXPECT_EQ(options.programs[1].argv, (std::vector<std::string>{"b", "x"}));
  EXPECT_EQ(options.programs[1].ranks, 1u);
}

TEST(MpiexecOptions, two_values) {
  const Options options =
      parsed({"-env", "A", "x=y", "-genv", "B", "", "--mca", "btl", "^shm", "-x", "C=1", "-x", "HOME", "a"});
  EXPECT_EQ(options.programs[0].env, (Variables{{"A", "x=y"}, {"C", "1"}}));
  EXPECT_EQ(options.env, (Variables{{"B", ""}}));
  ASSERT_EQ(options.mca.size(), 1u);
  EXPECT_EQ(options.mca[0].written, "^shm");
}

TEST(MpiexecOptions, refusals_name_option_and_expectation) {
  EXPECT_NE(refusal({"-n", "0", "a"}).find("option -n: \"0\""), std::string::npos);
  EXPECT_NE(refusal({"-n"}).find("option -n needs N"), std::string::npos);
  EXPECT_NE(refusal({"--verbos", "a"}).find("did you mean --verbose?"), std::string::npos);
  EXPECT_NE(refusal({"--labels=3", "a"}).find("unknown option --labels"), std::string::npos);
  EXPECT_NE(refusal({"-l=3", "a"}).find("takes no value"), std::string::npos);
  EXPECT_NE(refusal({}).find("no program"), std::string::npos);
  EXPECT_NE(refusal({"-n", "1", ":", "a"}).find("no program"), std::string::npos);
  EXPECT_NE(refusal({"-env", "A=B", "1", "a"}).find("no name of an environment variable"), std::string::npos);
  EXPECT_NE(refusal({"-map-by", "moon", "a"}).find("ppr:N:node"), std::string::npos);
}

TEST(MpiexecOptions, map_by_ppr) { EXPECT_EQ(parsed({"--map-by", "ppr:3:node", "a"}).place.per_node, 3u); }

TEST(MpiexecPlacement, local_names_only) {
  EXPECT_EQ(check_hosts({"localhost", "127.0.0.1:4"})->slots, 5u);
  EXPECT_EQ(check_hosts({})->slots, 0u);
  EXPECT_EQ(check_hosts({"no-such-host.invalid"}).error().code, Errc::bad_parameter);
  EXPECT_FALSE(check_hosts({"localhost:0"}));
  EXPECT_FALSE(check_hosts({"localhost:x"}));
}

TEST(MpiexecPlacement, slots_are_the_default_number_of_ranks) {
  EXPECT_EQ(lay_out(parsed({"a"}), {3})->size, 3u);
  EXPECT_EQ(lay_out(parsed({"a"}), {0})->size, 1u);
  EXPECT_EQ(lay_out(parsed({"-n", "2", "a"}), {3})->size, 2u);
}

TEST(MpiexecPlacement, ranks_per_node_are_the_number_of_ranks_where_none_is_said) {
  for (const auto& three : {std::vector<std::string>{"-ppn", "3"},
                            {"-N", "3"},
                            {"--npernode", "3"},
                            {"--map-by", "ppr:3:node"}}) {
    std::vector<std::string> words = three;
    words.emplace_back("a");
    EXPECT_EQ(lay_out(parsed(words), {})->size, 3u) << words[0];
    EXPECT_EQ(lay_out(parsed(words), {8, 1})->size, 3u) << "not the slots";
    EXPECT_EQ(lay_out(parsed(words), {2, 2})->size, 6u) << "two names of this machine";
    words.insert(words.begin(), {"--virtual-nodes", "2"});
    EXPECT_EQ(lay_out(parsed(words), {})->local_size, (std::vector<std::uint32_t>{3, 3}));
    words.insert(words.begin(), {"-n", "4"});
    EXPECT_EQ(lay_out(parsed(words), {})->local_size, (std::vector<std::uint32_t>{3, 1}));
  }
  EXPECT_FALSE(lay_out(parsed({"-ppn", "1000000", "--virtual-nodes", "1000000", "a"}), {}));
}

TEST(MpiexecPlacement, a_user_before_the_host_is_oneself) {
  const passwd* const entry = ::getpwuid(::geteuid());
  if (entry == nullptr) GTEST_SKIP() << "this user has no name";
  EXPECT_EQ(check_hosts({std::string(entry->pw_name) + "@localhost:3"})->slots, 3u);
  const auto other = check_hosts({"nobody-else@localhost"});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().detail.find("~/.ssh/config"), std::string::npos) << other.error().detail;
}

TEST(MpiexecPlacement, virtual_nodes) {
  const auto filled = lay_out(parsed({"-n", "5", "--virtual-nodes", "3", "a"}), {0});
  EXPECT_EQ(filled->node, (std::vector<std::uint32_t>{0, 0, 1, 1, 2}));
  EXPECT_EQ(filled->local_rank, (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
  EXPECT_EQ(filled->local_size, (std::vector<std::uint32_t>{2, 2, 1}));
  const auto in_turn = lay_out(parsed({"-n", "5", "--virtual-nodes", "3", "--map-by", "node", "a"}), {0});
  EXPECT_EQ(in_turn->node, (std::vector<std::uint32_t>{0, 1, 2, 0, 1}));
  const auto few = lay_out(parsed({"-n", "2", "--virtual-nodes", "8", "a"}), {0});
  EXPECT_EQ(few->local_size, (std::vector<std::uint32_t>{1, 1}));
  EXPECT_FALSE(lay_out(parsed({"-n", "5", "--virtual-nodes", "2", "-ppn", "2", "a"}), {0}));
  EXPECT_EQ(lay_out(parsed({"-n", "4", "-ppn", "2", "a"}), {0})->nodes.text(), "(vector,(0,1,4))");
}

TEST(MpiexecPlacement, programs_follow_each_other) {
  const auto layout = lay_out(parsed({"-n", "2", "a", ":", "-n", "1", "b"}), {0});
  EXPECT_EQ(layout->program, (std::vector<std::uint32_t>{0, 0, 1}));
}

TEST(MpiexecEnvironment, own_values_win_and_launchers_leftovers_go) {
  char a[] = "A=1", pmi[] = "PMI_FD=9", rank[] = "OMPI_COMM_WORLD_RANK=7", path[] = "PATH=/bin";
  char* const inherited[] = {a, pmi, rank, path, nullptr};
  RankEnvironment environment(inherited, {{"B", "2"}});
  EXPECT_EQ(environment.value("PATH"), "/bin");
  std::vector<std::string> seen;
  for (char* const* at = environment.block({{"A", "3"}, {"C", "4"}}, {{"C", "5"}}); *at != nullptr; ++at)
    seen.emplace_back(*at);
  EXPECT_EQ(seen, (std::vector<std::string>{"PATH=/bin", "B=2", "A=3", "C=5"}));
}

}  // namespace
}  // namespace starling::mpiexec
