// SPDX-License-Identifier: BSD-3-Clause
// Memory objects: memfds, or what stands in for one. Layer: framework. Design: docs/design/shared-memory.md.

#include "frameworks/shm/memory/object.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <string>

#include "core/limits.hpp"
#include "frameworks/shm/arena.hpp"
#include "frameworks/shm/attach.hpp"
#include "frameworks/shm/nameless.hpp"

namespace starling::shm {
namespace {

constexpr char kObject[] = "shared memory object";

}  // namespace

Result<MemoryObject> MemoryObject::create(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes == 0 || bytes > static_cast<std::size_t>(std::numeric_limits<off_t>::max()) - page) {
    return fail(Errc::no_space, kObject, std::to_string(bytes) + " bytes cannot be had");
  }
  const std::size_t whole = (bytes + page - 1) / page * page;
  auto made = make_nameless("starling-memory");
  if (!made) return fail(std::move(made).error().within(kObject));
  UniqueFd fd = std::move(made->fd);
  if (auto sized = set_file_size(fd.get(), whole); !sized) {
    return fail(std::move(sized).error().within(kObject));
  }
  if (!made->sealable) {
    auto reserved = reserve_pages(fd.get(), 0, whole, "memory that others can map");
    if (!reserved) return fail(std::move(reserved).error());
  } else if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return fail(system_error(kObject, "cannot seal its size", errno));
  }
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return fail(system_error(kObject, "fstat", errno));
  auto mapping = Mapping::map(fd.get(), whole);
  if (!mapping) return fail(std::move(mapping).error().within(kObject));
  return MemoryObject(std::move(fd), std::move(*mapping), facts.st_ino);
}

void MemoryObject::give_back() noexcept {
  if (fd_) {
    (void)::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size()));
  }
}

Result<Mapping> map_object(const UniqueFd& fd, std::size_t bytes, std::uint64_t inode, Access access) {
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return fail(system_error(kObject, "fstat", errno));
  if (!S_ISREG(facts.st_mode) || facts.st_ino != inode || facts.st_size != static_cast<off_t>(bytes) ||
      !(size_is_sealed(fd.get()) || is_own_nameless(fd.get()))) {
    return fail(Errc::denied, kObject,
                "what was handed over has inode " + std::to_string(facts.st_ino) + " and " +
                    std::to_string(facts.st_size) + " bytes, expected " + std::to_string(inode) + " and " +
                    std::to_string(bytes) + " of sealed size, or this user's alone");
  }
  return Mapping::map(fd.get(), bytes, access);
}

}  // namespace starling::shm
