// SPDX-License-Identifier: BSD-3-Clause
// Asking for signs of life, and saying what is known. Layer: framework. Design: docs/design/network.md.

#include "frameworks/btl/net/doubt.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace starling::btl::net {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kAskEveryNs = 2 * kSecondNs;
constexpr const char* kNotKnown =
    "; the process is not known to have ended, and a firewall between may drop or refuse what goes there";

/// " port 4711", or nothing.
std::string port_text(std::span<const std::byte> port) {
  sockaddr_storage name{};
  if (port.size() < sizeof(sockaddr_in) || port.size() > sizeof name) return {};
  std::memcpy(&name, port.data(), port.size());
  // The port lies at the same place in both families.
  if (name.ss_family != AF_INET && name.ss_family != AF_INET6) return {};
  std::uint16_t number = 0;
  std::memcpy(&number, port.data() + offsetof(sockaddr_in, sin_port), sizeof number);
  return " port " + std::to_string(ntohs(number));
}

}  // namespace

void Doubt::begin(std::uint64_t since, std::uint64_t first_question) noexcept {
  if (since_ns_ != 0) return;
  since_ns_ = last_sign_ns_ = since;
  next_question_ns_ = first_question;
  unanswered_ = false;
}

void Doubt::settle() noexcept {
  since_ns_ = 0;
  probe_ = Probe();
}

Doubt::Verdict Doubt::look(std::uint64_t now, std::span<const std::byte> port,
                           std::uint64_t limit_ns) noexcept {
  if (!probe_.running() && now >= next_question_ns_ && !port.empty()) {
    probe_.start(port);
    if (!std::exchange(unanswered_, true)) last_sign_ns_ = now;
    // Questions wait in the port's queue while its owner computes.
    next_question_ns_ = now + std::max(kAskEveryNs, (now - since_ns_) / 4);
  }
  if (probe_.running()) {
    const auto answer = probe_.look();
    if (answer == Probe::Answer::listens) unanswered_ = false;
    if (answer == Probe::Answer::refused) return Verdict::refused;
  }
  const bool silent = unanswered_ || port.empty();
  if (limit_ns == 0 || !silent || now < last_sign_ns_ + limit_ns) return Verdict::open;
  return Verdict::unanswered;
}

Patience patience_of(const params::Registry& params, const params::Decl& seconds) {
  const std::uint64_t own = static_cast<std::uint64_t>(params.integer(seconds)) * kSecondNs;
  const params::Value* const creation = params.find("bootstrap_timeout");  // of a framework above this one
  const std::uint64_t whole = creation == nullptr ? 0 : static_cast<std::uint64_t>(creation->number);
  const std::uint64_t part = whole * kSecondNs / 5 * 4;
  if (own == 0 || part == 0) return {own, std::max(own, part)};
  return {own, std::min(own, part)};
}

std::string no_connection(const Way& way, bool had, const std::string& how) {
  return std::string(had ? "the connection" : "no connection") + " to rank " + std::to_string(way.peer.rank) +
         " at " + way.there + port_text(way.port) + " from " + way.here + (had ? " is gone: " : ": ") + how +
         kNotKnown;
}

Broken broken_connection(const Way& way, bool had, std::uint64_t limit_ns) {
  const auto told = [&](const char* how, const char* at_once, bool listens = false) {
    return Broken{no_connection(way, had, had ? how : at_once), listens};
  };
  if (way.port.empty()) return told("it broke", "it was not made");
  switch (Probe::ask(way.port, limit_ns)) {
    case Probe::Answer::refused: return told("it was reset, and a new one is refused", "it was refused");
    case Probe::Answer::listens:
      return told("it was reset, although somebody still listens there",
                  "it was reset, although somebody listens there", true);
    default: return told("it broke, and nobody answers there", "nobody answers there");
  }
}

}  // namespace starling::btl::net
