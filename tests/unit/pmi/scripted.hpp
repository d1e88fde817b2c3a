// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A process manager that follows a script, and clients that are connected to it. Layer: tests.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/unique_fd.hpp"
#include "frameworks/pmi/environment.hpp"
#include "frameworks/pmi/launchers.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::pmi {

inline Getenv fake(std::map<std::string, std::string> variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

/// Expects messages and answers each, in order; then closes. An empty answer says nothing. From
/// "cmd=" to ';' is a frame, whose length is added; other expected texts are lines.
struct Step {
  std::string expected;
  std::string answer;
};

/// Length and text, as Hydra writes them, or as Slurm does.
inline std::string framed(const std::string& text, bool left_justified = false) {
  std::string length = std::to_string(text.size());
  length.insert(left_justified ? length.size() : 0, 6 - length.size(), ' ');
  return length + text;
}

inline void serve(UniqueFd fd, const std::vector<Step>& script, bool left_justified = false) {
  const auto is_frame = [](const std::string& text) {
    return text.substr(0, 4) == "cmd=" && text.back() == ';';
  };
  for (const Step& step : script) {
    const std::string expected = is_frame(step.expected) ? framed(step.expected) : step.expected + "\n";
    std::string got(expected.size(), '\0');
    const ssize_t bytes = ::recv(fd.get(), got.data(), got.size(), MSG_WAITALL);
    if (bytes <= 0) {
      ADD_FAILURE() << "the client closed while this was expected: " << step.expected;
      return;
    }
    got.resize(static_cast<std::size_t>(bytes));
    EXPECT_EQ(got, expected);
    if (got != expected) return;
    const std::string answer = is_frame(step.answer) ? framed(step.answer, left_justified) : step.answer;
    EXPECT_EQ(::send(fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(answer.size()));
  }
}

/// A client on one end of a socket, a script on the other.
class ScriptedTest : public testing::Test {
 protected:
  using Make = std::function<Result<std::unique_ptr<Component>>(const Getenv& get)>;

  /// Runs the script in a thread and connects a client to it: rank 1 of 4.
  std::unique_ptr<Component> connect_by(const Make& make, std::vector<Step> script,
                                        std::vector<Step> more = {}) {
    int fds[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    script.insert(script.end(), more.begin(), more.end());
    server_ =
        std::thread([fd = fds[1], script, left = left_justified_] { serve(UniqueFd(fd), script, left); });
    std::map<std::string, std::string> variables = {
        {"PMI_FD", std::to_string(fds[0])}, {"PMI_RANK", "1"}, {"PMI_SIZE", std::to_string(size_)}};
    if (own_server_) variables.merge(of_mpiexec(fds[0]));
    auto made = make(fake(std::move(variables)));
    if (!made) {
      error_ = made.error();
      ::close(fds[0]);
      return nullptr;
    }
    return std::move(*made);
  }
  /// What only Starling's mpiexec says to its processes.
  std::map<std::string, std::string> of_mpiexec(int fd) {
    struct stat facts {};
    EXPECT_EQ(::fstat(fd, &facts), 0);
    Features features;
    features.socket = facts.st_ino;
    features.vallen_max = 1024;
    features.universe_size = size_;
    features.runs = 1;
    features.nodes = NodeMap::one_node(size_);
    return {{"STARLING_PMI_FEATURES", features.text()}, {"STARLING_JOB", "job"}};
  }

  ~ScriptedTest() override {
    if (server_.joinable()) server_.join();
  }

  std::thread server_;
  Error error_;
  bool left_justified_ = false;
  std::uint32_t size_ = 4;
  bool own_server_ = false;  ///< the script is that of Starling's mpiexec
};

}  // namespace starling::pmi
