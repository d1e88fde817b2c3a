// SPDX-License-Identifier: BSD-3-Clause
// Output that waits for nobody. Layer: tools.
//
// Hard here: the descriptors are shared with the ranks and with whoever started mpiexec, so they cannot be
// made non-blocking. A pipe that poll() calls writable takes PIPE_BUF bytes at once; a terminal may take one,
// and is opened anew.

#include "tools/mpiexec/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "core/result.hpp"

namespace starling::mpiexec {
namespace {

constexpr std::size_t kLongestLine = 64 * 1024;  ///< a longer one is cut, so that memory stays bounded
constexpr int kChunks = 64;                      ///< that one turn of a pipe moves

}  // namespace

Output::Output(int to) noexcept : to_(to) {
  if (::isatty(to) == 0) return;
  const std::string again = "/proc/self/fd/" + std::to_string(to);
  terminal_ = UniqueFd(::open(again.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

void Output::add(std::string_view text) {
  if (error_ == 0) unwritten_ += text;
}

void Output::flush() {
  std::size_t done = 0;
  while (error_ == 0 && done < unwritten_.size()) {
    pollfd state{to_, POLLOUT, 0};
    if (::poll(&state, 1, 0) <= 0) break;
    const ssize_t written = ::write(terminal_ ? terminal_.get() : to_, unwritten_.data() + done,
                                    std::min<std::size_t>(unwritten_.size() - done, PIPE_BUF));
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  unwritten_.erase(0, error_ == 0 ? done : std::string::npos);
}

std::string Output::problem() const {
  if (error_ == 0) return {};
  const std::string stream = to_ == STDERR_FILENO ? "standard error" : "standard output";
  if (error_ == EPIPE) return stream + " was closed by whoever read it";
  return system_error({}, stream + " cannot be written", error_).detail;
}

void LabelledPipe::give_lines(Output& to, bool all) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t newline = 0; (newline = held_.find('\n', at)) != std::string::npos; at = newline + 1) {
    out.append("[").append(label_).append("] ").append(held_, at, newline + 1 - at);
  }
  held_.erase(0, at);
  if (!held_.empty() && (all || held_.size() > kLongestLine)) {
    out.append("[").append(label_).append("] ").append(held_).append("\n");
    held_.clear();
  }
  to.add(out);
  to.flush();
}

bool LabelledPipe::pump(Output& to) {
  char chunk[16 * 1024];
  for (int i = 0; from_ && !to.waiting() && i < kChunks;) {
    const ssize_t got = ::read(from_.get(), chunk, sizeof chunk);
    if (got > 0) {
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
