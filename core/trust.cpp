// SPDX-License-Identifier: BSD-3-Clause
// Owners and modes. Hard: each folder is looked at through the descriptor of the one before, so that no name
// is looked up twice. Layer: core.

#include "core/trust.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "core/text_file.hpp"
#include "core/unique_fd.hpp"

namespace starling {
namespace {

constexpr mode_t kWritable = S_IWGRP | S_IWOTH;

std::string wrong_owner(const struct stat& facts) {
  if (facts.st_uid == 0 || facts.st_uid == ::geteuid()) return {};
  return "its owner is user " + std::to_string(facts.st_uid) + ", expected root or user " +
         std::to_string(::geteuid());
}

/// Whether root of the machine is nobody in here (a container without privileges): then its folders seem to
/// belong to the overflow user.
bool root_is_nobody() {
  // Lines "first id inside, first id outside, count".
  const std::string map = text_of_file("/proc/self/uid_map");
  unsigned long inside = 0, outside = 0, count = 0;
  int used = 0;
  for (const char* at = map.c_str(); std::sscanf(at, "%lu %lu %lu%n", &inside, &outside, &count, &used) == 3;
       at += used) {
    if (outside == 0) return false;
  }
  return !map.empty();
}

bool is_overflow_user(uid_t user) {
  return std::to_string(user) + "\n" == text_of_file("/proc/sys/kernel/overflowuid");
}

/// As distrust(), for a folder above the file: who may replace its entries matters, not who may add some.
std::string distrust_on_the_way(const struct stat& facts) {
  if ((facts.st_mode & kWritable) != 0 && (facts.st_mode & S_ISVTX) == 0) return distrust(facts);
  std::string why = wrong_owner(facts);
  if (!why.empty() && is_overflow_user(facts.st_uid) && root_is_nobody()) why.clear();
  return why;
}

Result<std::string> without_links(const std::string& path) {
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) != nullptr) return std::string(resolved);
  if (errno == ENOENT) return fail(Errc::not_found, {}, "it does not exist");
  return fail(system_error({}, "cannot open it", errno));
}

/// The entry of a folder as it stands there; its facts.
Result<UniqueFd> look_at(int folder, const std::string& name, struct stat& facts) {
  UniqueFd fd(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd || ::fstat(fd.get(), &facts) != 0) return fail(system_error({}, "cannot examine it", errno));
  if (S_ISLNK(facts.st_mode)) return fail(Errc::denied, {}, "it was changed while it was looked at");
  return fd;
}

}  // namespace

std::string distrust(const struct stat& facts) {
  if (std::string why = wrong_owner(facts); !why.empty()) return why;
  const bool group = (facts.st_mode & S_IWGRP) != 0;
  if ((facts.st_mode & S_IWOTH) != 0)
    return std::string("it is writable by others; use `chmod ") + (group ? "go-w`" : "o-w`");
  return group ? "it is writable by its group; use `chmod g-w`" : std::string{};
}

Result<std::string> trusted_path(const std::string& path) {
  auto resolved = without_links(path);
  if (!resolved) return resolved;
  UniqueFd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat facts {};
  if (!at || ::fstat(at.get(), &facts) != 0) return fail(system_error({}, "cannot examine /", errno));
  for (std::size_t begin = 1, end = 0; begin < resolved->size(); begin = end + 1) {
    if (std::string why = distrust_on_the_way(facts); !why.empty())
      return fail(Errc::denied, {},
                  "the folder " + resolved->substr(0, std::max<std::size_t>(end, 1)) + ": " + why);
    end = std::min(resolved->find('/', begin), resolved->size());
    auto next = look_at(at.get(), resolved->substr(begin, end - begin), facts);
    if (!next) return fail(std::move(next).error());
    at = std::move(*next);
  }
  if (std::string why = distrust(facts); !why.empty()) {
    return fail(Errc::denied, {}, (*resolved == path ? "" : "it leads to " + *resolved + ": ") + why);
  }
  return resolved;
}

}  // namespace starling
