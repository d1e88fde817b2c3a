// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A PmiServer of three ranks, which is asked in lines (PMI 1) and frames (PMI 2). Layer: tests.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frameworks/pmi/wire.hpp"
#include "tools/mpiexec/pmi_server.hpp"

namespace starling::mpiexec {

class PmiServerTest : public testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  explicit PmiServerTest(std::uint32_t universe_size)
      : server({"job", 3, universe_size, NodeMap({{0, 1, 2}, {1, 1, 1}}), {0, 0, 1}}) {}

  /// Sends one request, a line or the body of a frame (which ends in ';'), and gives all replies as
  /// "rank: text", frames without length.
  Lines ask(std::uint32_t rank, const std::string& text) {
    pmi::wire::Reader reader;
    reader.append(text.back() == ';' ? length_of(text.size()) + text : text + "\n");
    auto message = reader.next();
    EXPECT_TRUE(message && *message) << text;
    std::vector<PmiServer::Reply> replies;
    auto done = server.handle(rank, **message, replies);
    error = done ? "" : done.error().detail;
    if (done) aborted = *done;
    return text_of(replies);
  }
  /// What others hear when that rank's process has ended.
  Lines end(std::uint32_t rank) {
    std::vector<PmiServer::Reply> replies;
    server.gone(rank, replies);
    return text_of(replies);
  }

  PmiServer server;
  std::string error;
  std::optional<PmiServer::Abort> aborted;

 private:
  static std::string length_of(std::size_t bytes) {
    std::string length = std::to_string(bytes);
    return length.insert(0, 6 - length.size(), ' ');
  }
  static Lines text_of(const std::vector<PmiServer::Reply>& replies) {
    Lines lines;
    for (const auto& reply : replies) {
      const bool line = reply.text.back() == '\n';
      EXPECT_TRUE(line || reply.text.substr(0, 6) == length_of(reply.text.size() - 6));
      lines.push_back(std::to_string(reply.rank) + ": " +
                      (line ? reply.text.substr(0, reply.text.size() - 1) : reply.text.substr(6)));
    }
    return lines;
  }
};

}  // namespace starling::mpiexec
