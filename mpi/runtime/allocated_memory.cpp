// SPDX-License-Identifier: BSD-3-Clause
// Memory of MPI_Alloc_mem. Layer: mpi.

#include "mpi/runtime/allocated_memory.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "core/limits.hpp"
#include "core/log.hpp"
#include "mpi/names.gen.hpp"

namespace starling::mpi {

void AllocatedMemory::share_in(shm::NodeSegment& segment, std::uint64_t shared_min) {
  shared_min_ = shared_min;
  if (segment.local_size() > 1) owned_.emplace(segment, shm::memory_objects_most());
}

/// Null: it has to be ordinary memory.
void* AllocatedMemory::allocate_shared(std::size_t bytes) {
  auto made = owned_->allocate(bytes);
  if (made) return *made;
  if (!told_)
    log::info(std::string(names::Alloc_mem) + ": ordinary memory from here on: " + made.error().text());
  told_ = true;
  return nullptr;
}

Result<std::byte*> AllocatedMemory::offer(std::size_t bytes) {
  if (!owned_) return fail(Errc::unsupported, "window", "this process shares no memory with others");
  return owned_->allocate(bytes);
}

std::optional<std::uint64_t> AllocatedMemory::object_of(const void* base, std::size_t bytes) const noexcept {
  const shm::Found found = owned_ ? owned_->find(base) : shm::Found{};
  if (found.look != shm::Look::found) return std::nullopt;
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(base) - found.range.base;
  if (bytes > found.range.bytes - offset) return std::nullopt;
  return found.range.base;
}

Result<void*> AllocatedMemory::allocate(std::size_t bytes, std::size_t alignment) {
  const bool share = owned_ && shared_min_ != 0 && bytes >= shared_min_ &&
                     alignment <= static_cast<std::size_t>(::getpagesize());
  if (void* const memory = share ? allocate_shared(bytes) : nullptr) return memory;
  void* memory = nullptr;
  if (::posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) {
    return fail(Errc::no_space, names::Alloc_mem,
                "no memory for " + std::to_string(bytes) + " bytes" + address_space_note(bytes));
  }
  ordinary_.insert(memory);
  return memory;
}

Result<void> AllocatedMemory::release(void* base) {
  if (ordinary_.erase(base) != 0) {
    std::free(base);
    return {};
  }
  if (owned_ && owned_->release(base)) return {};
  const shm::Found found = owned_ ? owned_->find(base) : shm::Found{};
  if (found.look == shm::Look::found) {
    const std::uint64_t behind = reinterpret_cast<std::uintptr_t>(base) - found.range.base;
    return fail(Errc::bad_input, names::Free_mem,
                "base lies " + std::to_string(behind) +
                    " bytes behind the beginning of what MPI_Alloc_mem gave, expected its beginning");
  }
  return fail(Errc::bad_input, names::Free_mem,
              "base is no address that MPI_Alloc_mem gave, or it has been given back");
}

}  // namespace starling::mpi
