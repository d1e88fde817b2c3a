// SPDX-License-Identifier: BSD-3-Clause
// What PMI-1 and PMI-2 clients have in common. Layer: framework. See docs/design/pmi.md.

#include "frameworks/pmi/client.hpp"

#include <unistd.h>

#include <utility>

#include "core/drain.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::pmi {
namespace {

constexpr std::uint64_t kConnectTimeoutS = 30;
constexpr std::uint64_t kAbortGraceNs = 5'000'000'000u;
/// How long a launcher may take to read what was printed before an abort; longer than a busy machine needs.
constexpr std::uint64_t kReadGraceNs = 500'000'000u;

/// PMI_RANK and PMI_SIZE, which come with PMI_FD.
Result<std::uint32_t> number_from(const Getenv& get, const char* name, std::uint32_t min, const char* where) {
  const char* const text = get(name);
  const std::string_view written = text == nullptr ? "" : text;
  std::uint64_t value = 0;
  bool digits = !written.empty() && written.size() <= 10;
  for (const char digit : written) {
    digits = digits && digit >= '0' && digit <= '9';
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (!digits || value < min || value > static_cast<std::uint64_t>(kMaxNumber)) {
    return fail(Errc::bad_input, where,
                std::string(name) + " is \"" + std::string(written) +
                    "\"; with PMI_FD set, a number of at least " + std::to_string(min) + " was expected");
  }
  return static_cast<std::uint32_t>(value);
}

Result<UniqueFd> open_stream(const Launch& launch, const char* where) {
  switch (launch.kind) {
    case Launch::Kind::none: break;
    case Launch::Kind::inherited_fd: return UniqueFd(launch.fd);
    case Launch::Kind::tcp_port:
      return Connection::connect_tcp(launch.host, launch.port, Deadline::after_seconds(kConnectTimeoutS),
                                     where);
  }
  return fail(Errc::unsupported, where, launch.why_none);
}

/// PMI_PORT: the server tells who this process is.
Result<void> acknowledge(Dialled& to, const char* where, Deadline deadline) {
  ++to.requests;
  auto sent = to.connection.send(std::move(wire::Line("initack").add("pmiid", to.launch.id)).take());
  if (!sent) return sent;
  bool has_rank = false;
  bool has_size = false;
  // Rank and size are fields of the answer with some servers, and lines of their own after it with others.
  for (bool answered = false; !answered || !has_rank || !has_size;) {
    auto message = to.connection.receive(deadline);
    if (!message) return fail(std::move(message).error());
    if (message->name() == "initack") {
      answered = true;
      if (message->find("rc") && message->find("rc") != "0")
        return refused(where, *message, "the connection");
    } else if (message->name() != "set") {
      return message->broken("cmd=initack or cmd=set was expected");
    }
    if (message->find("rank")) {
      auto rank = message->integer("rank", 0, kMaxNumber);
      if (!rank) return fail(std::move(rank).error());
      to.rank = static_cast<std::uint32_t>(*rank);
      has_rank = true;
    }
    if (message->find("size")) {
      auto size = message->integer("size", 1, kMaxNumber);
      if (!size) return fail(std::move(size).error());
      to.size = static_cast<std::uint32_t>(*size);
      has_size = true;
    }
  }
  return {};
}

Result<void> take_from_environment(Dialled& to, const Getenv& get, const char* where) {
  auto size = number_from(get, "PMI_SIZE", 1, where);
  if (!size) return fail(std::move(size).error());
  auto rank = number_from(get, "PMI_RANK", 0, where);
  if (!rank) return fail(std::move(rank).error());
  to.rank = *rank;
  to.size = *size;
  return {};
}

}  // namespace

Result<Dialled> dial(const Getenv& get, const char* where, std::uint64_t timeout_s) {
  auto launch = launch_of(get);
  if (!launch) return fail(std::move(launch).error());
  auto stream = open_stream(*launch, where);
  if (!stream) return fail(std::move(stream).error());
  Dialled to{Connection(std::move(*stream), where), std::move(*launch)};
  Result<void> known = to.launch.kind == Launch::Kind::tcp_port
                           ? acknowledge(to, where, Deadline::after_seconds(timeout_s))
                           : take_from_environment(to, get, where);
  if (known && to.rank >= to.size) {
    known = fail(
        Errc::bad_input, where,
        "rank " + std::to_string(to.rank) + " of " + std::to_string(to.size) + " processes makes no sense");
  }
  if (!known) {
    to.connection.abandon();
    return fail(std::move(known).error());
  }
  return to;
}

Unexpected refused(const char* where, const wire::Message& reply, std::string_view what) {
  const auto reason = reply.find(reply.form() == wire::Form::frame ? "errmsg" : "msg");
  return fail(Errc::system, where,
              "the process manager refused " + std::string(what) + ": " +
                  (reason ? wire::percent_decode(*reason) : "no reason given"));
}

std::string job_name(const std::string& server_s_name, const Getenv& get) {
  std::string name = server_s_name;
  for (const char* variable : {"SLURM_JOB_ID", "SLURM_STEP_ID", "FLUX_JOB_ID", "PBS_JOBID"}) {
    if (const char* const value = get(variable); value != nullptr && *value != '\0')
      name.append("-").append(value);
  }
  for (char& byte : name) {
    if (byte == '/' || byte == ' ') byte = '_';
  }
  return name;
}

Result<void> put_pieces(const ValueCodec& codec, std::uint32_t rank, std::string_view key,
                        std::span<const std::byte> value, const char* where, const StorePiece& store) {
  if (value.size() > kMaxValueBytes) return fail(Errc::no_space, where, "a value is longer than 64 KiB");
  const std::string text = ValueCodec::encode(value);
  const auto pieces = codec.pieces(text);
  for (std::size_t i = pieces.size(); i-- > 0;) {
    if (auto stored = store(codec.key_name(rank, key, i), pieces[i]); !stored) return stored;
  }
  return {};
}

Result<std::optional<std::vector<std::byte>>> get_pieces(const ValueCodec& codec, std::uint32_t rank,
                                                         std::string_view key, const char* where,
                                                         const FetchPiece& fetch) {
  auto first = fetch(codec.key_name(rank, key, 0));
  if (!first) return fail(std::move(first).error());
  if (!*first) return std::optional<std::vector<std::byte>>{};
  auto count = codec.piece_count(**first);
  if (!count) return fail(std::move(count).error());
  std::string text = std::move(**first);
  for (std::size_t i = 1; i < *count; ++i) {
    auto piece = fetch(codec.key_name(rank, key, i));
    if (!piece) return fail(std::move(piece).error());
    if (!*piece) return fail(Errc::bad_input, where, "a piece of a value is missing at the process manager");
    text += **piece;
  }
  auto value = ValueCodec::decode(text);
  if (!value) return fail(std::move(value).error());
  return std::optional<std::vector<std::byte>>(std::move(*value));
}

bool send_abort(Connection& connection, std::string_view request, bool shows_output) noexcept {
  if (!shows_output) {  // it may end at once, and the reason would be lost
    const Deadline deadline = Deadline::after_ns(kReadGraceNs);
    (void)(await_read(STDERR_FILENO, deadline) && await_read(STDOUT_FILENO, deadline));
  }
  if (!connection.send(request)) return false;
  // The process manager ends this process too; give it the time to do so before the caller exits by itself.
  const Deadline deadline = Deadline::after_ns(kAbortGraceNs);
  while (!deadline.passed()) {
    if (!connection.receive(deadline)) return true;
  }
  return true;
}

}  // namespace starling::pmi
