// SPDX-License-Identifier: BSD-3-Clause
// File sizes and address space. Layer: core.

#include "core/limits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/text_file.hpp"

namespace starling {
namespace {

/// Raises a soft limit as far as the hard one allows, until it is destroyed.
class RaisedLimit {
 public:
  explicit RaisedLimit(rlimit limit) noexcept : before_(limit) {
    limit.rlim_cur = limit.rlim_max;
    raised_ = ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
  }
  ~RaisedLimit() {
    if (raised_) ::setrlimit(RLIMIT_FSIZE, &before_);
  }
  RaisedLimit(const RaisedLimit&) = delete;
  RaisedLimit& operator=(const RaisedLimit&) = delete;

 private:
  rlimit before_;
  bool raised_ = false;
};

Result<void> truncate(int fd, std::uint64_t bytes) {
  if (::ftruncate(fd, static_cast<off_t>(bytes)) == 0) return {};
  return fail(system_error({}, "cannot set the size to " + std::to_string(bytes) + " bytes", errno));
}

}  // namespace

Result<void> set_file_size(int fd, std::uint64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes)
    return truncate(fd, bytes);
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < bytes) {
    return fail(Errc::no_space, {},
                "the size of files is limited to " + std::to_string(limit.rlim_max) +
                    " bytes (ulimit -f), which holds for shared memory too; needed: " +
                    std::to_string(bytes) + " bytes. Raise that limit, or give the job fewer ranks per node");
  }
  const RaisedLimit raised(limit);
  return truncate(fd, bytes);
}

std::string address_space_note(std::uint64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  const std::uint64_t used = std::strtoull(text_of_file("/proc/self/statm").c_str(), nullptr, 10) *
                             static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (bytes != 0 && used + bytes <= limit.rlim_cur) return {};
  return "; the address space of a process is limited to " + std::to_string(limit.rlim_cur) +
         " bytes (ulimit -v), of which " + std::to_string(used) + " are in use" +
         (bytes == 0 ? std::string() : "; needed: " + std::to_string(used + bytes)) + ". Raise that limit";
}

}  // namespace starling
