// SPDX-License-Identifier: BSD-3-Clause
// Layer: framework, for the network btls. Design: docs/design/network.md, "Silence".

#include "frameworks/btl/net/ends.hpp"

#include <unistd.h>

#include "core/clock.hpp"

namespace starling::btl::net {
namespace {

constexpr std::uint64_t kLastWordsNs = 20'000'000;  // what a process sent before its death may take so long
constexpr std::uint64_t kHearNs = 200'000'000;      // for the launcher to tell, or to end the job
constexpr std::uint64_t kAskNs = 200'000'000;       // for an answer of the peer's host
constexpr std::uint64_t kAskAllNs = 1'000'000'000;  // and of all, over the life of the process
constexpr std::uint64_t kBetweenLooksNs = 2'000'000;

}  // namespace

std::optional<std::uint32_t> Ends::take() noexcept {
  const std::uint64_t now = now_ns();
  if (noted_ == taken_) {
    noted_ = segment_->far_deaths();
    noted_ns_ = now;
  }
  if (noted_ == taken_ || now < noted_ns_ + kLastWordsNs) return std::nullopt;
  return segment_->far_death(taken_++);
}

bool Ends::hear(std::uint32_t rank, std::uint64_t limit_ns) const noexcept {
  if (segment_ == nullptr) return false;
  const Deadline deadline = Deadline::after_ns(limit_ns);
  std::uint32_t seen = 0;
  for (;;) {
    for (; seen < segment_->far_deaths(); ++seen) {
      if (segment_->far_death(seen) == rank) return true;
    }
    if (deadline.passed()) return false;
    ::usleep(kBetweenLooksNs / 1000);
  }
}

Ends::Verdict Ends::after_break(const Way& way, bool had_connection) noexcept {
  const std::uint32_t rank = way.peer.rank;
  if (arrivals_.end_of(rank) == Errc::peer_left) {
    if (!arrivals_.says_left(rank) && hear(rank, 0)) return {Errc::peer_lost, kDied, true};
    return {Errc::peer_left, "it has left MPI", true};
  }
  const std::uint64_t begin = now_ns();
  const bool patient = asking_ns_ < kAskAllNs;
  Verdict verdict;
  if (hear(rank, patient ? kHearNs : 0)) {
    verdict = {Errc::peer_lost, kDied, true};
  } else {
    auto broken = broken_connection(way, had_connection, patient ? kAskNs : 0);
    verdict = {Errc::unreachable, std::move(broken.text), !broken.listens};
  }
  asking_ns_ += now_ns() - begin;
  return verdict;
}

}  // namespace starling::btl::net
