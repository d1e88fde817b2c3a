// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes what a rank can send to mpiexec: framing, fields and the server's state. Layer: tests.

#include "tests/fuzz/cut.hpp"
#include "tools/mpiexec/pmi_server.hpp"

namespace {

using namespace starling;

/// Serves the bytes and gives everything that was answered, and the error if there was one.
std::string served(std::string_view bytes, std::size_t chunk) {
  constexpr std::uint32_t kRanks = 3;
  mpiexec::PmiServer server({"job", kRanks, kRanks, NodeMap::one_node(kRanks), {0, 0, 0}});
  std::string log;
  std::vector<mpiexec::PmiServer::Reply> replies;
  std::uint32_t rank = 0;
  const auto serve = [&](const pmi::wire::Message& message) {
    auto done = server.handle(rank, message, replies);
    if (!done) log += done.error().text();
    if (done && *done) log += "abort " + (*done)->message;
    if (!done || *done) return false;
    rank = (rank + 1) % kRanks;
    for (const auto& reply : replies) {
      pmi::wire::Reader client;  // what the server writes, the client can read
      client.append(reply.text);
      auto read = client.next();
      if (!read || !*read || client.in_message()) std::abort();
      log += std::to_string(reply.rank) + reply.text;
    }
    replies.clear();
    return true;
  };
  fuzz::read_all(bytes, chunk, {.line_bytes = 4096, .command_bytes = 8192, .fields = 64}, log, serve);
  return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::expect_the_same_however_cut(data, size, served);
  return 0;
}
