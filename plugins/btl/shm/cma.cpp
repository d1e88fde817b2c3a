// SPDX-License-Identifier: BSD-3-Clause
// process_vm_readv and process_vm_writev, whole. Layer: plugin.

#include "plugins/btl/shm/cma.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace starling::btl {
namespace {

using Move = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

int move_whole(Move move, pid_t pid, std::uint64_t address, std::byte* here_at, std::size_t left) noexcept {
  if (pid <= 0) return ESRCH;
  constexpr std::size_t kMostPerCall =
      0x7ffff000;  // Linux transfers no more at once and says so only by the count
  while (left != 0) {
    const std::size_t bytes = std::min(left, kMostPerCall);
    const iovec here{here_at, bytes};
    const iovec there{reinterpret_cast<void*>(address), bytes};
    const ssize_t moved = move(pid, &here, 1, &there, 1, 0);
    if (moved < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (moved == 0) return EFAULT;
    here_at += moved;
    left -= static_cast<std::size_t>(moved);
    address += static_cast<std::uint64_t>(moved);
  }
  return 0;
}

}  // namespace

int read_process(pid_t pid, std::uint64_t address, std::span<std::byte> to) noexcept {
  return move_whole(&::process_vm_readv, pid, address, to.data(), to.size());
}

int write_process(pid_t pid, std::uint64_t address, std::span<const std::byte> from) noexcept {
  return move_whole(&::process_vm_writev, pid, address, const_cast<std::byte*>(from.data()), from.size());
}

}  // namespace starling::btl
