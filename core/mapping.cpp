// SPDX-License-Identifier: BSD-3-Clause
// Shared mappings. Layer: core.

#include "core/mapping.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "core/limits.hpp"

namespace starling {

Result<Mapping> Mapping::map(int fd, std::size_t bytes, Access access) {
  // MAP_NORESERVE: segments are sparse; pages are reserved with fallocate before they are touched.
  const int may = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* address = ::mmap(nullptr, bytes, may, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (address == MAP_FAILED) {
    const int cause = errno;
    Error error = system_error(
        "mmap", "cannot map " + std::to_string(bytes) + " bytes of descriptor " + std::to_string(fd), cause);
    if (cause == ENOMEM) error.detail += address_space_note(bytes);
    return fail(std::move(error));
  }
  return Mapping(static_cast<std::byte*>(address), bytes);
}

void Mapping::reset() noexcept {
  if (address_ != nullptr) ::munmap(std::exchange(address_, nullptr), std::exchange(bytes_, 0));
}

}  // namespace starling
