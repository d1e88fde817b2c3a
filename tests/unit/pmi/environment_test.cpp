// SPDX-License-Identifier: BSD-3-Clause
// frameworks/pmi/environment: who started this process. Layer: tests.

#include "frameworks/pmi/environment.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "core/unique_fd.hpp"

namespace starling::pmi {
namespace {

Getenv fake(std::map<std::string, std::string> variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

struct SocketPair {
  SocketPair() {
    int fds[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    one = UniqueFd(fds[0]);
    two = UniqueFd(fds[1]);
  }
  std::uint64_t inode() const {
    struct stat facts {};
    EXPECT_EQ(::fstat(one.get(), &facts), 0);
    return facts.st_ino;
  }
  UniqueFd one, two;
};

TEST(LaunchOf, nothing_set_is_no_launcher) {
  const auto launch = launch_of(fake({}));
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->kind, Launch::Kind::none);
  EXPECT_EQ(launch->why_none, "neither PMI_FD nor PMI_PORT is set: no PMI launcher started this process")
      << "pmi/pmi1 and pmi/pmi2 both say it";
}

TEST(LaunchOf, inherited_socket) {
  const SocketPair pair;
  const auto launch = launch_of(fake({{"PMI_FD", std::to_string(pair.one.get())}}));
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->kind, Launch::Kind::inherited_fd);
  EXPECT_FALSE(launch->features);
}

TEST(LaunchOf, number_that_is_no_socket_any_more) {
  const auto launch = launch_of(fake({{"PMI_FD", "0"}}));
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->kind, Launch::Kind::none);
}

/// Variables of a rank under Starling's mpiexec, whose socket has that inode.
std::map<std::string, std::string> rank_of_mpiexec(int fd, std::uint64_t inode) {
  Features features;
  features.socket = inode;
  return {{"PMI_FD", std::to_string(fd)},
          {"PMI_RANK", "1"},
          {"PMI_SIZE", "4"},
          {"STARLING_PMI_FEATURES", features.text()}};
}

TEST(LaunchOf, the_inode_tells_the_socket_of_mpiexec) {
  const SocketPair pair;
  const auto launch = launch_of(fake(rank_of_mpiexec(pair.one.get(), pair.inode())));
  EXPECT_EQ(launch->kind, Launch::Kind::inherited_fd);
  EXPECT_TRUE(launch->features);
}

TEST(LaunchOf, another_socket_under_the_same_number_is_not_ours) {
  const SocketPair pair;
  auto variables = rank_of_mpiexec(pair.one.get(), pair.inode() + 1);
  variables[kRankMark] = rank_mark(fake(variables), ::getpid() + 1);
  const auto child = launch_of(fake(variables));
  EXPECT_EQ(child->kind, Launch::Kind::none);
  EXPECT_NE(child->why_none.find("child"), std::string::npos) << child->why_none;
  variables[kRankMark] = rank_mark(fake(variables), ::getpid());
  const auto replaced = launch_of(fake(variables));
  EXPECT_EQ(replaced->kind, Launch::Kind::none);
  EXPECT_NE(replaced->why_none.find("exec"), std::string::npos) << replaced->why_none;
}

TEST(LaunchOf, a_launcher_inside_a_rank_brings_its_own_socket) {
  const SocketPair pair;
  auto variables = rank_of_mpiexec(pair.one.get(), pair.inode() + 1);
  variables[kRankMark] = rank_mark(fake(variables), ::getpid() + 1);
  variables["PMI_SIZE"] = "3";
  const auto launch = launch_of(fake(variables));
  EXPECT_EQ(launch->kind, Launch::Kind::inherited_fd);
  EXPECT_FALSE(launch->features);  // it is not Starling's mpiexec
}

TEST(LaunchOf, a_launcher_inside_a_shell_that_is_a_rank_brings_its_own_socket) {
  const SocketPair pair;
  const auto launch = launch_of(fake(rank_of_mpiexec(pair.one.get(), pair.inode() + 1)));
  EXPECT_EQ(launch->kind, Launch::Kind::inherited_fd);
  EXPECT_FALSE(launch->features);
}

TEST(LaunchOf, a_child_of_a_rank_does_not_connect_to_its_port) {
  std::map<std::string, std::string> variables = {{"PMI_PORT", "node7:4242"}, {"PMI_ID", "3"}};
  variables[kRankMark] = rank_mark(fake(variables), ::getpid() + 1);
  EXPECT_EQ(launch_of(fake(variables))->kind, Launch::Kind::none);
}

TEST(LaunchOf, tcp_port) {
  const auto launch = launch_of(fake({{"PMI_PORT", "node7:4242"}, {"PMI_ID", "3"}}));
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->kind, Launch::Kind::tcp_port);
  EXPECT_EQ(launch->host + "|" + launch->port + "|" + launch->id, "node7|4242|3");
}

TEST(LaunchOf, values_that_make_no_sense_are_errors) {
  EXPECT_FALSE(launch_of(fake({{"PMI_FD", "4x"}})));
  EXPECT_FALSE(launch_of(fake({{"PMI_FD", "-1"}})));
  EXPECT_FALSE(launch_of(fake({{"PMI_PORT", "node7"}, {"PMI_ID", "3"}})));
  EXPECT_FALSE(launch_of(fake({{"PMI_PORT", "node7:99999"}, {"PMI_ID", "3"}})));
  EXPECT_FALSE(launch_of(fake({{"PMI_PORT", "node7:4242"}})));
}

TEST(FeaturesText, survives_the_environment) {
  Features features{
      .socket = 77, .vallen_max = 90000, .universe_size = 8, .appnum = 1, .nodes = NodeMap({{0, 2, 4}})};
  const auto read = Features::parse(features.text() + ";later=1");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->socket, 77u);
  EXPECT_EQ(read->vallen_max, 90000u);
  EXPECT_EQ(read->universe_size, 8u);
  EXPECT_EQ(read->appnum, 1u);
  EXPECT_EQ(read->nodes, features.nodes);
  EXPECT_FALSE(Features::parse("vallen=1"));
  EXPECT_FALSE(Features::parse("socket=x"));
  EXPECT_FALSE(Features::parse("socket=1;nodes=(vector"));
}

}  // namespace
}  // namespace starling::pmi
