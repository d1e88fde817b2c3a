// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes what a rank can send to mpiexec: framing, fields and the server's state. Layer: tests.
//
// The input's first byte chooses how the stream is cut into reads; the same bytes cut differently must mean
// the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frameworks/pmi/wire.hpp"
#include "tools/mpiexec/pmi_server.hpp"

namespace {

using namespace starling;

/// Serves the bytes and gives everything that was answered, and the error if there was one.
std::string served(std::string_view bytes, std::size_t chunk) {
  constexpr std::uint32_t kRanks = 3;
  mpiexec::PmiServer server({"job", kRanks, kRanks, pmi::NodeMap::one_node(kRanks), {0, 0, 0}});
  pmi::wire::Reader reader({.line_bytes = 4096, .command_bytes = 8192, .fields = 64});
  std::string log;
  std::vector<mpiexec::PmiServer::Reply> replies;
  std::uint32_t rank = 0;
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    reader.append(bytes.substr(at, chunk));
    for (;;) {
      auto message = reader.next();
      if (!message) return log + message.error().text();
      if (!*message) break;
      auto done = server.handle(rank, **message, replies);
      if (!done) return log + done.error().text();
      if (*done) return log + "abort " + (*done)->message;
      rank = (rank + 1) % kRanks;
      for (const auto& reply : replies) {
        pmi::wire::Reader client;  // what the server writes, the client can read
        client.append(reply.text);
        auto read = client.next();
        if (!read || !*read || client.in_message()) std::abort();
        log += std::to_string(reply.rank) + reply.text;
      }
      replies.clear();
    }
  }
  return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (served(bytes, bytes.size() + 1) != served(bytes, data[0] % 32u + 1)) std::abort();
  return 0;
}
