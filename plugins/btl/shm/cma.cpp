// SPDX-License-Identifier: BSD-3-Clause
// process_vm_readv, whole. Layer: plugin.

#include "plugins/btl/shm/cma.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace starling::btl {

int read_process(pid_t pid, std::uint64_t address, std::span<std::byte> to) noexcept {
  if (pid <= 0) return ESRCH;
  constexpr std::size_t kMostPerCall =
      0x7ffff000;  // Linux transfers no more at once and says so only by the count
  while (!to.empty()) {
    const std::size_t bytes = std::min(to.size(), kMostPerCall);
    const iovec here{to.data(), bytes};
    const iovec there{reinterpret_cast<void*>(address), bytes};
    const ssize_t moved = ::process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (moved < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (moved == 0) return EFAULT;
    to = to.subspan(static_cast<std::size_t>(moved));
    address += static_cast<std::uint64_t>(moved);
  }
  return 0;
}

}  // namespace starling::btl
