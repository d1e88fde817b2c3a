// SPDX-License-Identifier: BSD-3-Clause
// Labelled output. Layer: tools.

#include "tools/mpiexec/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "core/result.hpp"

namespace starling::mpiexec {
namespace {

constexpr std::size_t kLongestLine = 64 * 1024;  ///< a longer one is cut, so that memory stays bounded

/// Gives 0 or the errno of what failed.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      pollfd waiting{fd, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
      continue;
    }
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

bool LabelledPipe::write_lines(bool all) {
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
  error_ = write_all(to_, out);
  return error_ == 0;
}

std::string LabelledPipe::problem() const {
  const std::string stream = to_ == STDERR_FILENO ? "standard error" : "standard output";
  if (error_ == EPIPE) return stream + " was closed by whoever read it";
  return system_error({}, stream + " cannot be written", error_).detail;
}

LabelledPipe::State LabelledPipe::pump() {
  if (!from_) return State::ended;
  char chunk[16 * 1024];
  for (;;) {
    const ssize_t got = ::read(from_.get(), chunk, sizeof chunk);
    if (got > 0) {
      held_.append(chunk, static_cast<std::size_t>(got));
      if (!write_lines(false)) return State::unwritable;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return State::more;
    from_.reset();
    return write_lines(true) ? State::ended : State::unwritable;
  }
}

}  // namespace starling::mpiexec
