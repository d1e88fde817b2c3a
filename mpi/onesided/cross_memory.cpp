// SPDX-License-Identifier: BSD-3-Clause
// Copies by process_vm_readv and writev. What is hard: types with gaps on both sides, whose bytes are
// gathered here and listed there, piece by piece. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/cross_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>

#include "mpi/error.hpp"
#include "mpi/error_class.hpp"
#include "mpi/onesided/elements.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

/// Linux moves no more at once, and says so only by the count.
constexpr std::size_t kMostPerCall = 0x7ffff000;

/// One call for each `runs` places there, over bytes that lie in a row here. 0 or errno.
int call(pid_t pid, Direction direction, std::byte* here, std::span<iovec> runs) noexcept {
  while (!runs.empty()) {
    std::size_t bytes = 0;
    for (const iovec& run : runs) bytes += run.iov_len;
    const iovec local{here, bytes};
    const ssize_t moved = direction == Direction::put
                              ? ::process_vm_writev(pid, &local, 1, runs.data(), runs.size(), 0)
                              : ::process_vm_readv(pid, &local, 1, runs.data(), runs.size(), 0);
    if (moved < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (moved == 0) return EFAULT;
    // What was cut short goes on where it ended.
    auto left = static_cast<std::size_t>(moved);
    here += left;
    while (!runs.empty() && left >= runs.front().iov_len) {
      left -= runs.front().iov_len;
      runs = runs.subspan(1);
    }
    if (runs.empty()) break;
    runs.front().iov_base = static_cast<std::byte*>(runs.front().iov_base) + left;
    runs.front().iov_len -= left;
  }
  return 0;
}

/// Lists the bytes there, and moves them when there are enough.
class Mover {
 public:
  Mover(pid_t pid, Direction direction, const Data& here, std::uint64_t most) noexcept
      : pid_(pid), direction_(direction), here_(here), left_(most), row_(here.type.contiguous()) {}

  void add(std::uint64_t address, std::uint64_t bytes) noexcept {
    bytes = std::min(bytes, left_);
    left_ -= bytes;
    while (bytes > 0 && error_ == 0) {
      const std::uint64_t now = std::min<std::uint64_t>(bytes, (row_ ? kMostPerCall : kPiece) - listed_);
      runs_[count_++] = {reinterpret_cast<void*>(address), now};
      address += now;
      bytes -= now;
      listed_ += now;
      if (count_ == runs_.size() || listed_ == (row_ ? kMostPerCall : kPiece)) move();
    }
  }
  [[nodiscard]] int finish() noexcept {
    if (error_ == 0 && count_ != 0) move();
    return error_;
  }

 private:
  static constexpr std::size_t kPiece = 65536, kRuns = 256;

  void move() noexcept {
    const std::span<iovec> runs(runs_.data(), count_);
    if (row_) {
      error_ = call(pid_, direction_, static_cast<std::byte*>(here_.base) + done_, runs);
    } else {
      std::array<std::byte, kPiece> piece;
      if (direction_ == Direction::put)
        here_.type.pack(here_.base, here_.count, done_, piece.data(), listed_);
      error_ = call(pid_, direction_, piece.data(), runs);
      if (error_ == 0 && direction_ == Direction::get)
        here_.type.unpack(here_.base, here_.count, done_, piece.data(), listed_);
    }
    done_ += listed_;
    listed_ = 0;
    count_ = 0;
  }

  pid_t pid_;
  Direction direction_;
  const Data& here_;
  std::uint64_t left_;
  bool row_;
  int error_ = 0;
  std::uint64_t done_ = 0, listed_ = 0;
  std::size_t count_ = 0;
  std::array<iovec, kRuns> runs_;
};

}  // namespace

Probe own_probe() noexcept {
  static std::uint64_t own = [] {  // not const: others write it, too
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
  }();
  return {reinterpret_cast<std::uintptr_t>(&own), own};
}

CrossMemory CrossMemory::of(const Target& target) noexcept {
  const auto& slot = Runtime::get()->place().segment().slot(target.local_rank);
  return CrossMemory(static_cast<pid_t>(slot.pid.load(std::memory_order_relaxed)));
}

// Who has let itself be copied to and from once is not asked again: that would be two system calls for each
// local peer and window. The value tells processes apart that have the same number one after the other.
int CrossMemory::try_out(const Probe& probe) const noexcept {
  struct Known {
    pid_t pid = 0;
    std::uint64_t value = 0;
  };
  static std::array<Known, 128> all_known;
  Known& known = all_known[static_cast<std::uint32_t>(pid_) % all_known.size()];
  if (pid_ > 0 && known.pid == pid_ && known.value == probe.value) return 0;
  std::uint64_t seen = 0;
  const auto bytes = std::as_writable_bytes(std::span<std::uint64_t, 1>(&seen, 1));
  if (const int error = move(Direction::get, bytes, probe.address); error != 0) return error;
  if (seen != probe.value) return ESRCH;
  // The same value: a filter of system calls may refuse the one and not the other.
  if (const int error = move(Direction::put, bytes, probe.address); error != 0) return error;
  known = {pid_, seen};
  return 0;
}

int CrossMemory::move(Direction direction, std::span<std::byte> here, std::uint64_t address) const noexcept {
  if (pid_ <= 0) return ESRCH;
  while (!here.empty()) {
    const std::size_t now = std::min(here.size(), kMostPerCall);
    iovec run{reinterpret_cast<void*>(address), now};
    if (const int error = call(pid_, direction, here.data(), std::span(&run, 1)); error != 0) return error;
    here = here.subspan(now);
    address += now;
  }
  return 0;
}

int CrossMemory::move(Direction direction, std::span<std::byte> here, std::span<iovec> there) const noexcept {
  return pid_ <= 0 ? ESRCH : call(pid_, direction, here.data(), there);
}

int CrossMemory::move(Direction direction, const Data& here, std::uint64_t address, std::uint64_t count,
                      const Datatype& type) const noexcept {
  const std::uint64_t bytes = std::min(here.bytes(), count * type.size());
  if (type.contiguous() && here.type.contiguous())
    return move(direction, std::span(static_cast<std::byte*>(here.base), bytes), address);
  if (pid_ <= 0) return ESRCH;
  Mover mover(pid_, direction, here, bytes);
  if (type.contiguous()) {
    mover.add(address, bytes);
  } else {
    each_run_of_bytes(type, count, [&](std::int64_t displacement, std::uint64_t run) {
      mover.add(address + static_cast<std::uint64_t>(displacement), run);
    });
  }
  return mover.finish();
}

int copy_error(const Win& win, std::uint32_t rank, int error) {
  if (error == ESRCH)
    return mpi::error(fault_class(peer::Fault::peer_lost), win.label(rank) + ": its process has ended");
  return mpi::error(MPI_ERR_RMA_RANGE, win.label(rank) + ": the kernel cannot copy to or from its memory: " +
                                           std::strerror(error) + "; is all of it mapped, and writable?");
}

}  // namespace starling::mpi
