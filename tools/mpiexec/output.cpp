// SPDX-License-Identifier: BSD-3-Clause
// Output that waits for nobody. Layer: tools.
//
// Hard here: the descriptors are shared with the ranks and with whoever started mpiexec, so they cannot be
// made non-blocking. A pipe that poll() calls writable takes PIPE_BUF bytes at once; a terminal may take one,
// and is opened anew.

#include "tools/mpiexec/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <ctime>

#include "core/result.hpp"

namespace starling::mpiexec {
namespace {

constexpr std::size_t kLongestLine = 64 * 1024;  ///< a longer one is cut, so that memory stays bounded
constexpr int kChunks = 64;                      ///< that one turn of a pipe moves

/// "2026-03-01 12:00:00.123 ", in the zone of whoever started mpiexec.
std::string time_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  ::localtime_r(&now.tv_sec, &parts);
  char day[32];
  char text[48];
  std::strftime(day, sizeof day, "%F %T", &parts);
  std::snprintf(text, sizeof text, "%s.%03ld ", day, now.tv_nsec / 1'000'000);
  return text;
}

}  // namespace

Output::Output(int to) noexcept : to_(to) {
  if (::isatty(to) == 0) return;
  const std::string again = "/proc/self/fd/" + std::to_string(to);
  terminal_ = UniqueFd(::open(again.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

void Output::spare_lines_of(Output& other) noexcept {
  struct stat own {};
  struct stat others {};
  if (::fstat(to_, &own) != 0 || ::fstat(other.to_, &others) != 0) return;
  if (own.st_dev != others.st_dev || own.st_ino != others.st_ino) return;
  other_ = &other;
  other.other_ = this;
}

void Output::add(std::string_view text) {
  if (error_ == 0) unwritten_ += text;
}

void Output::add_of_rank(std::string_view text) {
  of_rank_ |= !text.empty();
  add(text);
}

void Output::flush() {
  if (other_ != nullptr && other_->in_line_) return;  // it waits for the same, and comes first
  std::size_t done = 0;
  while (error_ == 0 && done < unwritten_.size()) {
    pollfd state{to_, POLLOUT, 0};
    if (::poll(&state, 1, 0) <= 0) break;
    const ssize_t written = ::write(terminal_ ? terminal_.get() : to_, unwritten_.data() + done,
                                    std::min<std::size_t>(unwritten_.size() - done, PIPE_BUF));
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
      if (written > 0) in_line_ = unwritten_[done - 1] != '\n';
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      error_ = errno;
      in_line_ = false;
    }
  }
  unwritten_.erase(0, error_ == 0 ? done : std::string::npos);
  if (error_ == 0 && unwritten_.empty()) of_rank_ = false;
}

std::string Output::problem() const {
  if (error_ == 0 || !of_rank_) return {};
  const std::string stream = to_ == STDERR_FILENO ? "standard error" : "standard output";
  if (error_ == EPIPE) return stream + " was closed by whoever read it";
  return system_error({}, stream + " cannot be written", error_).detail;
}

void LabelledPipe::give_lines(Output& to, bool all) {
  std::string out;
  const std::string label = times_ ? time_now() + label_ : label_;
  std::size_t at = 0;
  for (std::size_t newline = 0; (newline = held_.find('\n', at)) != std::string::npos; at = newline + 1) {
    out.append(label).append(held_, at, newline + 1 - at);
  }
  held_.erase(0, at);
  if (!held_.empty() && (all || held_.size() > kLongestLine)) {
    out.append(label).append(held_).append("\n");
    held_.clear();
  }
  to.add_of_rank(out);
  to.flush();
}

void LabelledPipe::take_no_more() noexcept {
  int there = 0;
  if (from_ && ::ioctl(from_.get(), FIONREAD, &there) == 0) left_ = static_cast<std::size_t>(there);
}

bool LabelledPipe::pump(Output& to) {
  char chunk[16 * 1024];
  for (int i = 0; from_ && !to.waiting() && i < kChunks;) {
    const ssize_t got = ::read(from_.get(), chunk, std::min(sizeof chunk, left_));
    if (got > 0) {
      if (left_ != SIZE_MAX) left_ -= static_cast<std::size_t>(got);
      held_.append(chunk, static_cast<std::size_t>(got));
      give_lines(to, false);
      ++i;
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      from_.reset();
      give_lines(to, true);
    } else if (errno == EAGAIN) {
      return false;
    }
  }
  return static_cast<bool>(from_);
}

}  // namespace starling::mpiexec
