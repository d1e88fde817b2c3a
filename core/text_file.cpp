// SPDX-License-Identifier: BSD-3-Clause
// Reading a file of unknown size: those of /proc say that they have none. Layer: core.

#include "core/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/unique_fd.hpp"

namespace starling {

std::string text_of_file(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10;
  std::string text;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return text;
  char piece[4096];
  while (text.size() < kMostBytes) {
    const ssize_t got = ::read(fd.get(), piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece, static_cast<std::size_t>(got));
  }
  if (text.size() > kMostBytes) text.resize(kMostBytes);
  return text;
}

}  // namespace starling
