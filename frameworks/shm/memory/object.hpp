// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Memory without a name that one process makes and others can map. Layer: framework.
///
/// It is a memfd of sealed size: sparse, so that its size costs nothing until its pages are touched, and gone
/// with the last process that has it, however that ends. Where there is no memfd (nameless.hpp) its pages are
/// reserved at once.
///
/// Threads:   value type, move-only.
/// Ownership: owns its descriptor and this process's mapping.
/// Errors:    no_space: memory, address space, file size or descriptors, each with its limit.
/// Units:     bytes; sizes are rounded up to whole pages.

#include <cstddef>
#include <cstdint>

#include "core/mapping.hpp"
#include "core/result.hpp"
#include "core/unique_fd.hpp"

namespace starling::shm {

class MemoryObject {
 public:
  /// `bytes`: at least 1. All bytes are zero.
  [[nodiscard]] static Result<MemoryObject> create(std::size_t bytes);

  [[nodiscard]] std::byte* data() const noexcept { return mapping_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return mapping_.size(); }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// By which other processes know it: unique among the objects that exist.
  [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }

  /// Gives the pages back to the system, also those that others have mapped: these see zeros from then on.
  void give_back() noexcept;
  /// Closes the descriptor and gives the mapping to the caller. Then no other process can map the bytes any
  /// more.
  [[nodiscard]] Mapping keep_mapping() && noexcept {
    fd_.reset();
    return std::move(mapping_);
  }
  /// The bytes stay mapped here for the life of the process.
  void abandon() noexcept { mapping_.abandon(); }

 private:
  MemoryObject(UniqueFd fd, Mapping mapping, std::uint64_t inode) noexcept
      : fd_(std::move(fd)), mapping_(std::move(mapping)), inode_(inode) {}
  UniqueFd fd_;
  Mapping mapping_;
  std::uint64_t inode_ = 0;
};

/// Maps the object of another process, which has sent `fd`. Checks that it has this inode and size, and that
/// its size is sealed, so that reading it never raises SIGBUS; or that nobody but this user can have it.
[[nodiscard]] Result<Mapping> map_object(const UniqueFd& fd, std::size_t bytes, std::uint64_t inode,
                                         Access access);

}  // namespace starling::shm
