// SPDX-License-Identifier: BSD-3-Clause
// Event descriptors. Layer: core.

#include "core/event_fd.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace starling {

Result<UniqueFd> make_event_fd(int flags) {
  UniqueFd fd(::eventfd(0, flags | EFD_CLOEXEC));
  if (!fd) return fail(system_error({}, "eventfd", errno));
  std::uint64_t count = 1;
  if (::write(fd.get(), &count, sizeof count) != sizeof count)
    return fail(system_error({}, "eventfd: write", errno));
  if (::read(fd.get(), &count, sizeof count) != sizeof count)
    return fail(system_error({}, "eventfd: read", errno));
  return fd;
}

}  // namespace starling
