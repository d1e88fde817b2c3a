// SPDX-License-Identifier: BSD-3-Clause
// Extents of shared memory. What is hard here is to hand out nothing whose pages are not reserved, and to
// lose no more than one extent whatever happens in between. Layer: framework. Design:
// docs/design/shared-memory.md.

#include "frameworks/shm/arena.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/atomics.hpp"
#include "frameworks/shm/free_list.hpp"

namespace starling::shm {
namespace {

constexpr std::uint64_t kKeepsPagesBelow = 32;  // pages; larger extents give theirs back

struct Links {
  std::atomic<std::uint32_t>* first;
  std::atomic<std::uint32_t>& operator()(std::uint32_t index) const noexcept { return first[index]; }
};

FreeList<StdAtomics, Links> list_of(std::byte* base, const Offsets& at, std::uint32_t size_class) noexcept {
  auto& header = *reinterpret_cast<Header*>(base);
  return {header.free_heads[size_class],
          Links{reinterpret_cast<std::atomic<std::uint32_t>*>(base + at.links)}};
}

std::uint32_t class_of(std::size_t bytes) noexcept {
  return class_of_pages(bytes / kPageBytes + (bytes % kPageBytes != 0 ? 1 : 0));
}

std::string path_of(int fd) {
  char path[256];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof(path));
  return length > 0 ? std::string(path, static_cast<std::size_t>(length))
                    : "descriptor " + std::to_string(fd);
}

/// Has the kernel touch the pages, which keeps their bytes, where fallocate() is refused. Returns errno.
int populate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  constexpr int kAdvice = MADV_POPULATE_WRITE;
#else
  constexpr int kAdvice = 23;  // Linux 5.14
#endif
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t from = offset / page * page;
  const std::size_t span = offset + bytes - from;
  void* const at = ::mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(from));
  if (at == MAP_FAILED) return errno;
  int error = 0;
  do {
    error = ::madvise(at, span, kAdvice) == 0 ? 0 : errno;
  } while (error == EINTR || error == EAGAIN);
  ::munmap(at, span);
  return error == EFAULT ? ENOSPC : error;  // where a touch would be a SIGBUS
}

/// 0, or errno.
int reserve(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  while (::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
    const int cause = errno;
    if (cause == EINTR) continue;
    if (cause != EPERM && cause != ENOSYS && cause != EOPNOTSUPP) return cause;
    const int second = populate(fd, offset, bytes);
    return second == 0 || second == ENOSPC || second == ENOMEM ? second : cause;
  }
  return 0;
}

}  // namespace

Result<void> reserve_pages(int fd, std::uint64_t offset, std::uint64_t bytes, const char* what) {
  if (const int cause = reserve(fd, offset, bytes); cause != 0) {
    if (cause != ENOSPC && cause != ENOMEM) {
      return fail(system_error("shared memory",
                               "cannot reserve " + std::to_string(bytes) + " bytes for " + what, cause));
    }
    std::string text = path_of(fd) + ": no room for " + std::to_string(bytes) + " more bytes (" + what + ")";
    struct statvfs room {};
    if (cause == ENOSPC && ::fstatvfs(fd, &room) == 0 && room.f_blocks != 0) {
      text += "; free: " + std::to_string(std::uint64_t{room.f_bavail} * room.f_frsize) +
              " bytes. Make that file system larger, or use shm=memfd, which does not need it";
    } else {
      text += "; the memory limit of this machine or container is reached";
    }
    return fail(Errc::no_space, "shared memory", std::move(text));
  }
  return {};
}

Arena::Arena(int fd, std::byte* base, const Geometry& geometry) noexcept
    : fd_(fd), base_(base), at_(offsets_of(geometry)) {}

void Arena::put(std::uint32_t size_class, std::uint32_t index) noexcept {
  list_of(base_, at_, size_class).push(index);
}

std::uint32_t Arena::take(std::uint32_t size_class) noexcept { return list_of(base_, at_, size_class).pop(); }

Result<std::uint32_t> Arena::take_unused(std::uint32_t size_class) {
  const std::uint64_t pages = pages_of_class(size_class);
  auto& bump = header().bump_pages;
  std::uint64_t first = bump.load(std::memory_order_relaxed);
  do {
    if (first + pages > at_.arena_pages) return std::uint32_t{0};
  } while (!bump.compare_exchange_weak(first, first + pages, std::memory_order_relaxed));
  const auto index = static_cast<std::uint32_t>(first + 1);
  auto reserved = reserve_pages(fd_, at_.links + index * sizeof(std::uint32_t), pages * sizeof(std::uint32_t),
                                "the arena's table");
  if (!reserved) {
    std::uint64_t after = first + pages;  // given back unless somebody took more meanwhile; then it is lost
    bump.compare_exchange_strong(after, first, std::memory_order_relaxed);
    return fail(std::move(reserved).error());
  }
  return index;
}

std::uint32_t Arena::split(std::uint32_t size_class) noexcept {
  for (std::uint32_t larger = size_class + 1; larger < kSizeClasses; ++larger) {
    const std::uint32_t index = take(larger);
    if (index == 0) continue;
    const std::uint64_t pages = pages_of_class(size_class);
    put_pages(index + static_cast<std::uint32_t>(pages), pages_of_class(larger) - pages);
    return index;
  }
  return 0;
}

/// As few extents as there can be.
void Arena::put_pages(std::uint32_t index, std::uint64_t pages) noexcept {
  while (pages > 0) {
    std::uint32_t size_class = class_of_pages(pages);
    if (pages_of_class(size_class) > pages) --size_class;
    put(size_class, index);
    index += static_cast<std::uint32_t>(pages_of_class(size_class));
    pages -= pages_of_class(size_class);
  }
}

Result<std::uint64_t> Arena::allocate(std::size_t bytes) {
  const std::uint32_t size_class = class_of(bytes);
  if (size_class >= kSizeClasses) {
    return fail(Errc::no_space, "shared memory",
                "one piece of " + std::to_string(bytes) + " bytes is more than there can be");
  }
  std::uint32_t index = take(size_class);
  if (index == 0) {
    auto unused = take_unused(size_class);
    if (!unused) return fail(std::move(unused).error());
    index = *unused != 0 ? *unused : split(size_class);
  }
  if (index == 0) {
    return fail(Errc::no_space, "shared memory",
                "the node's arena of " + std::to_string(at_.arena_pages * kPageBytes) +
                    " bytes has no piece of " + std::to_string(bytes) + " bytes left; raise shm_arena_bytes");
  }
  const std::uint64_t rounded = kPageBytes * pages_of_class(size_class);
  auto reserved = reserve_pages(fd_, offset_of(index), rounded, "a queue between processes");
  if (!reserved) {
    put(size_class, index);
    return fail(std::move(reserved).error());
  }
  header().used_bytes.fetch_add(rounded, std::memory_order_relaxed);
  return offset_of(index);
}

void Arena::release(std::uint64_t offset, std::size_t bytes) noexcept {
  const std::uint32_t size_class = class_of(bytes);
  const std::uint64_t rounded = kPageBytes * pages_of_class(size_class);
  expects(offset >= at_.extents && offset + rounded <= at_.end && (offset - at_.extents) % kPageBytes == 0,
          "release of something that is no extent");
  if (rounded >= kPageBytes * kKeepsPagesBelow) {
    // A failure keeps the memory, which is no harm.
    (void)::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                      static_cast<off_t>(rounded));
  }
  header().used_bytes.fetch_sub(rounded, std::memory_order_relaxed);
  put(size_class, static_cast<std::uint32_t>((offset - at_.extents) / kPageBytes + 1));
}

}  // namespace starling::shm
