// SPDX-License-Identifier: BSD-3-Clause
// The loop of a running job: PMI requests, labelled output, deadlines. Layer: tools. See docs/design/pmi.md.

#include "tools/mpiexec/job.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace starling::mpiexec {
namespace {

constexpr std::uint64_t kClosedGraceNs = 500 * kMs;  ///< between a closed connection and its process's end
constexpr std::uint64_t kReportNs = 300 * kMs;       ///< for ranks to write down what they wait for
constexpr std::size_t kUnsentMax = std::size_t{64} << 20;
constexpr int kTimeoutExitCode = 124;
constexpr std::uint64_t kLeftOutputNs = 1'000 * kMs;  ///< for output that nobody may read, when told to end

int to_ms(std::uint64_t ns) noexcept {
  return static_cast<int>(std::min<std::uint64_t>(ns / kMs + 1, 1'000'000));
}

}  // namespace

void Job::turn(std::uint64_t most_ns) {
  epoll_event events[64];
  const int limit = most_ns == UINT64_MAX ? -1 : to_ms(most_ns);
  const int next = wait_ms();
  const int wait = next < 0 || (limit >= 0 && limit < next) ? limit : next;
  const int count = ::epoll_wait(epoll_.get(), events, 64, wait);
  for (int i = 0; i < count; ++i) {
    const auto rank = static_cast<std::uint32_t>(events[i].data.u64);
    switch (static_cast<Source>(events[i].data.u64 >> 32)) {
      case Source::signals: on_signals(); break;
      case Source::socket:
        if ((events[i].events & EPOLLOUT) != 0) flush(rank);
        if ((events[i].events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) serve(rank);
        break;
      case Source::out: pump_streams(0); break;
      case Source::err: pump_streams(1); break;
      case Source::pmix: take_pmix_events(); break;
    }
  }
  on_deadlines();
}

int Job::run() {
  while (alive_ > 0) turn(UINT64_MAX);
  if (spec_.options.exit_codes) say_exit_codes();
  write_the_rest();
  pmix_.reset();
  guard_.reset();  // it is a child, too
  const auto told = [](const RankProcess& process) { return process.told; };
  if (ending_ || std::any_of(ranks_.begin(), ranks_.end(), told)) {
    kill_remains();
    remove_names();
  }
  return exit_code_;
}

void Job::pump_streams(std::uint32_t stream) {
  Output& output = outputs_[stream];
  output.flush();
  epoll_event events[64];
  const int count =
      output.waiting() || !piped_[stream] ? 0 : ::epoll_wait(piped_[stream].get(), events, 64, 0);
  for (int i = 0; i < count && !output.waiting(); ++i)
    ranks_[events[i].data.u64 & UINT32_MAX].pipes[stream].pump(output);
  settle_output(stream);
}

void Job::settle_output(std::uint32_t stream) {
  const Output& output = outputs_[stream];
  if (!output.problem().empty()) end(1, "mpiexec: " + output.problem(), SIGTERM, kRankGraceNs);
  if (!epoll_ || output.waiting() == full_[stream]) return;
  full_[stream] = output.waiting();
  epoll_event event{};
  event.data.u64 = std::uint64_t{static_cast<std::uint32_t>(stream == 0 ? Source::out : Source::err)} << 32;
  event.events = EPOLLOUT;
  ::epoll_ctl(epoll_.get(), full_[stream] ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, output.fd(), &event);
  event.events = EPOLLIN;
  if (piped_[stream])
    ::epoll_ctl(epoll_.get(), full_[stream] ? EPOLL_CTL_DEL : EPOLL_CTL_ADD, piped_[stream].get(), &event);
}

// What ended ranks wrote is in the pipes already; whoever still holds the other end is not waited for. Our
// own reader is, unless mpiexec was told to end.
void Job::write_the_rest() {
  Deadline limit;
  for (RankProcess& process : ranks_) {
    for (LabelledPipe& pipe : process.pipes) pipe.take_no_more();
  }
  for (bool more = true; more && !limit.passed();) {
    more = false;
    for (std::uint32_t stream = 0; stream < 2; ++stream) {
      for (RankProcess& process : ranks_) more |= process.pipes[stream].pump(outputs_[stream]);
      settle_output(stream);
      more |= outputs_[stream].waiting();
    }
    if (leaves_output_ && limit.never()) limit = Deadline::after_ns(kLeftOutputNs);
    if (more) turn(outputs_[0].waiting() || outputs_[1].waiting() ? limit.left_ns() : 0);
  }
}

void Job::serve(std::uint32_t rank) {
  RankProcess& process = ranks_[rank];
  char chunk[64 * 1024];
  while (process.socket) {
    const ssize_t got = ::recv(process.socket.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (got > 0) {
      take(rank, {chunk, static_cast<std::size_t>(got)});
      if (static_cast<std::size_t>(got) < sizeof chunk) return;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    close_socket(rank);
  }
}

void Job::close_socket(std::uint32_t rank) {
  RankProcess& process = ranks_[rank];
  const bool cut = process.reader.in_message();
  process.socket.reset();
  if (ending_ || !process.alive) return;
  // The process is on its way out, usually; if it stays while others count on it, the job cannot go on.
  if (cut || server_.phase(rank) == Phase::active)
    process.silent_deadline = Deadline::after_ns(kClosedGraceNs);
  rank_deadlines_ = rank_deadlines_ || !process.silent_deadline.never();
}

void Job::take(std::uint32_t rank, std::string_view bytes) {
  RankProcess& process = ranks_[rank];
  process.reader.append(bytes);
  for (;;) {
    if (ending_) return;
    auto message = process.reader.next();
    if (message && !*message) break;
    Result<std::optional<PmiServer::Abort>> done =
        message ? server_.handle(rank, **message, replies_)
                : Result<std::optional<PmiServer::Abort>>(fail(std::move(message).error()));
    if (!done) {
      end(1, "mpiexec: " + name_of(rank) + ": malformed PMI input: " + done.error().detail, SIGTERM,
          kRankGraceNs);
    } else if (*done && !asked_end_) {
      asked_end_ = AskedEnd{rank, (*done)->exit_code, std::move((*done)->message)};
      look_for_closed_connections();
    }
  }
  send_replies();
  check_stuck();
}

void Job::send_replies() {
  const std::vector<PmiServer::Reply> replies = std::move(replies_);
  replies_.clear();
  for (const PmiServer::Reply& reply : replies) send(reply.rank, reply.text);
}

void Job::send(std::uint32_t rank, std::string_view text) {
  RankProcess& process = ranks_[rank];
  if (!process.socket) return;
  const bool waiting = !process.unsent.empty();
  process.unsent += text;
  if (!waiting) flush(rank);
  if (process.unsent.size() > kUnsentMax) {
    end(1, "mpiexec: " + name_of(rank) + ": does not read the answers to its PMI requests", SIGTERM,
        kRankGraceNs);
  }
}

void Job::flush(std::uint32_t rank) {
  RankProcess& process = ranks_[rank];
  std::size_t sent = 0;
  while (process.socket && sent < process.unsent.size()) {
    const ssize_t bytes = ::send(process.socket.get(), process.unsent.data() + sent,
                                 process.unsent.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno != EAGAIN) {  // its end is gone; the process's end will be told by SIGCHLD
      sent = process.unsent.size();
      break;
    }
    if (bytes < 0) break;
    sent += static_cast<std::size_t>(bytes);
  }
  const bool had_watch = process.unsent.size() > sent || sent > 0;
  process.unsent.erase(0, sent);
  if (!process.socket || !had_watch) return;
  epoll_event event{};
  event.events = EPOLLIN | (process.unsent.empty() ? 0u : static_cast<std::uint32_t>(EPOLLOUT));
  event.data.u64 = std::uint64_t{static_cast<std::uint32_t>(Source::socket)} << 32 | rank;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, process.socket.get(), &event);
}

void Job::take_pmix_events() {
  if (!pmix_) return;
  using Kind = PmixHelper::Event::Kind;
  for (PmixHelper::Event& event : pmix_->take()) {
    if (event.kind == Kind::gone) {
      end(1, "mpiexec: the process that serves PMIx has died", SIGTERM, kRankGraceNs);
      continue;
    }
    if (event.rank >= ranks_.size()) continue;
    if (event.kind == Kind::connected) ranks_[event.rank].pmix = Phase::active;
    if (event.kind == Kind::finalized) ranks_[event.rank].pmix = Phase::finalized;
    if (event.kind != Kind::abort || asked_end_) continue;
    asked_end_ = AskedEnd{event.rank, event.code, std::move(event.text)};
    look_for_closed_connections();
  }
}

void Job::check_stuck() {
  if (ending_) return;
  const auto stuck = server_.stuck();
  if (!stuck) return;
  end(1,
      "mpiexec: " + name_of(stuck->missing) + ": has ended, but rank " + std::to_string(stuck->waiting) +
          " waits for it in a PMI barrier",
      SIGTERM, kRankGraceNs);
}

int Job::wait_ms() const {
  std::uint64_t left = UINT64_MAX;
  for (const Deadline& deadline : {kill_deadline_, timeout_, report_deadline_, memory_.tell_deadline()})
    left = std::min(left, deadline.left_ns());
  if (!rank_deadlines_) return left == UINT64_MAX ? -1 : to_ms(left);
  for (const RankProcess& process : ranks_) {
    if (!process.stop_deadline.never()) left = std::min(left, process.stop_deadline.left_ns());
    if (!process.silent_deadline.never()) left = std::min(left, process.silent_deadline.left_ns());
  }
  return left == UINT64_MAX ? -1 : to_ms(left);
}

void Job::on_deadlines() {
  if (memory_.tell_deadline().passed()) memory_.tell_ends();
  if (kill_deadline_.passed()) {
    kill_deadline_ = Deadline{};
    signal_all(SIGKILL);
  }
  if (report_deadline_.passed()) {
    report_deadline_ = Deadline{};
    report_waiting();
    if (timeout_.passed()) {
      leaves_output_ = true;
      end(kTimeoutExitCode,
          "mpiexec: the job did not end within " + std::to_string(*spec_.options.timeout_s) + " s", SIGTERM,
          kRankGraceNs);
      timeout_ = Deadline{};
    }
  }
  if (timeout_.passed() && report_deadline_.never()) {
    if (ending_) {
      timeout_ = Deadline{};
      leaves_output_ = true;
    } else {
      for (std::uint32_t node = 0; node < spec_.layout.local_size.size(); ++node) memory_.ask(node);
      report_deadline_ = Deadline::after_ns(kReportNs);
    }
  }
  if (!ending_ && asked_end_) settle_asked_end();
  // Rare, and the loop turns for every message: it must not walk over all ranks for each of them.
  if (ending_ || !std::exchange(rank_deadlines_, false)) return;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    RankProcess& process = ranks_[rank];
    if (process.stop_deadline.passed()) {
      lose(rank, 128 + process.stop_signal,
           "mpiexec: " + name_of(rank) + ": stopped by signal SIG" + ::sigabbrev_np(process.stop_signal) +
               ", " + server_.describe(rank) + " (--allow-stop lets a job live with that)");
    } else if (process.silent_deadline.passed()) {
      lose(rank, 1, "mpiexec: " + name_of(rank) + ": closed its PMI connection without MPI_Finalize");
    }
    const bool later = !process.stop_deadline.never() || !process.silent_deadline.never();
    rank_deadlines_ = rank_deadlines_ || later;
  }
}

void Job::report_waiting() {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    std::string text = "has ended";
    if (ranks_[rank].alive) {
      const auto answer = memory_.answer(spec_.layout.node[rank], spec_.layout.local_rank[rank]);
      text = answer && !answer->empty() ? *answer : server_.describe(rank);
    }
    // Further lines belong to the same rank.
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
      text.replace(at, 1, "\n    ");
    }
    say("mpiexec: " + name_of(rank) + ": " + text);
  }
}

}  // namespace starling::mpiexec
