// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Can a peer from which nothing comes back still be reached? Layer: framework, for the network btls.
///
/// A peer that computes takes nothing for hours, and neither does one behind a firewall that drops. So while
/// nothing moves its port is asked (probe.hpp), more and more rarely: who answers is waited for without end,
/// who does not only until a limit.
///
/// Threads: as btl::Component. Units: nanoseconds of now_ns().

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/ids.hpp"
#include "frameworks/btl/net/probe.hpp"
#include "params/registry.hpp"

namespace starling::btl::net {

class Doubt {
 public:
  enum class Verdict : std::uint8_t { open, refused, unanswered };

  [[nodiscard]] bool any() const noexcept { return since_ns_ != 0; }
  /// Nothing moves since `since`; the first question comes at `first_question`. Nothing where there is doubt.
  void begin(std::uint64_t since, std::uint64_t first_question) noexcept;
  void settle() noexcept;
  /// Asks and listens. `port` is the peer's sockaddr, empty where nobody can be asked: then it counts as one
  /// that does not answer. limit_ns 0: without end.
  [[nodiscard]] Verdict look(std::uint64_t now, std::span<const std::byte> port,
                             std::uint64_t limit_ns) noexcept;
  [[nodiscard]] std::uint64_t seconds(std::uint64_t now) const noexcept {
    return (now - since_ns_) / 1'000'000'000;
  }

 private:
  std::uint64_t since_ns_ = 0;
  std::uint64_t last_sign_ns_ = 0;  // since when nobody answers
  std::uint64_t next_question_ns_ = 0;
  bool unanswered_ = false;
  Probe probe_;
};

/// How long peers may leave questions unanswered.
struct Patience {
  std::uint64_t connected_ns = 0;
  std::uint64_t connecting_ns = 0;  ///< shorter than bootstrap_timeout, so that the cause is told before it
};
/// `seconds`: the transport's own parameter.
[[nodiscard]] Patience patience_of(const params::Registry& params, const params::Decl& seconds);

/// Between whom, for people.
struct Way {
  ProcId peer;
  const std::string& there;              ///< where the peer is
  const std::string& here;               ///< where this process is
  std::span<const std::byte> port = {};  ///< the peer's sockaddr, or empty
};
/// "no connection to rank 3 at 10.1.0.3 (eth0) port 4711 from 10.1.0.1 (eth0): it was refused; ...". `had`:
/// whether there was a connection before. `how`: "it was refused".
[[nodiscard]] std::string no_connection(const Way& way, bool had, const std::string& how);
/// What a connection's break means, after its peer's port has been asked, which takes up to `limit_ns`.
struct Broken {
  std::string text;
  bool listens = false;  ///< somebody answers there
};
[[nodiscard]] Broken broken_connection(const Way& way, bool had, std::uint64_t limit_ns);

}  // namespace starling::btl::net
