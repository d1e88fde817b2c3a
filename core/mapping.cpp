// SPDX-License-Identifier: BSD-3-Clause
// Shared mappings. Layer: core.

#include "core/mapping.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "core/limits.hpp"

namespace starling {

namespace {

Error cannot_map(std::size_t bytes, const std::string& of) {
  const int cause = errno;
  Error error = system_error("mmap", "cannot map " + std::to_string(bytes) + " bytes" + of, cause);
  if (cause == ENOMEM) error.detail += address_space_note(bytes);
  return error;
}

}  // namespace

Result<Mapping> Mapping::map(int fd, std::size_t bytes, Access access) {
  // MAP_NORESERVE: segments are sparse; pages are reserved with fallocate before they are touched.
  const int may = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* address = ::mmap(nullptr, bytes, may, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (address == MAP_FAILED) return fail(cannot_map(bytes, " of descriptor " + std::to_string(fd)));
  return Mapping(static_cast<std::byte*>(address), bytes);
}

Result<Mapping> Mapping::anonymous(std::size_t bytes) {
  void* address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return fail(cannot_map(bytes, {}));
  return Mapping(static_cast<std::byte*>(address), bytes);
}

void Mapping::reset() noexcept {
  if (address_ != nullptr) ::munmap(std::exchange(address_, nullptr), std::exchange(bytes_, 0));
}

}  // namespace starling
