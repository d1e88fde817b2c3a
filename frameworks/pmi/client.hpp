// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the clients that speak a PMI wire protocol themselves (pmi/pmi1, pmi/pmi2) have in common:
/// reaching the server, values in pieces, the last word. Layer: framework.
///
/// Threads:   functions of their arguments; getenv itself must not race with setenv.
/// Errors:    come from `where`, a literal with the plugin's name.
/// Units:     seconds where the name says so.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "frameworks/pmi/connection.hpp"
#include "frameworks/pmi/environment.hpp"
#include "frameworks/pmi/value.hpp"

namespace starling::pmi {

inline constexpr std::int64_t kMaxNumber = 0x7fffffff;  ///< servers have C ints

/// A connection to the process manager, and who this process is there.
struct Dialled {
  Connection connection;
  Launch launch;
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint64_t requests = 0;  ///< that it took
};

/// Reaches the server that the environment names. Without one: unsupported. With PMI_PORT rank and size come
/// from the server, else from PMI_RANK and PMI_SIZE. `timeout_s` 0: wait for ever for an answer.
[[nodiscard]] Result<Dialled> dial(const Getenv& get, const char* where, std::uint64_t timeout_s);

/// The error for a reply that says no, with the server's reason. `what`: "to store a value".
[[nodiscard]] Unexpected refused(const char* where, const wire::Message& reply, std::string_view what);

/// A name for the job that does not come again on the node with another job of a resource manager.
[[nodiscard]] std::string job_name(const std::string& server_s_name, const Getenv& get);

/// Stores a value in pieces, the first one last: whoever sees it before a fence finds the others too.
using StorePiece = std::function<Result<void>(const std::string& key, std::string_view piece)>;
[[nodiscard]] Result<void> put_pieces(const ValueCodec& codec, std::uint32_t rank, std::string_view key,
                                      std::span<const std::byte> value, const char* where,
                                      const StorePiece& store);
/// Joins what put_pieces() stored; none: the server has no value of that name.
using FetchPiece = std::function<Result<std::optional<std::string>>(const std::string& key)>;
[[nodiscard]] Result<std::optional<std::vector<std::byte>>> get_pieces(const ValueCodec& codec,
                                                                       std::uint32_t rank,
                                                                       std::string_view key,
                                                                       const char* where,
                                                                       const FetchPiece& fetch);

/// Sends an abort and waits for the server to end this process. `shows_output`: the server reads what was
/// printed before it ends the job; others are given the time to do so. False: it could not be sent.
bool send_abort(Connection& connection, std::string_view request, bool shows_output) noexcept;

}  // namespace starling::pmi
