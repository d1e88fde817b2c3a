// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Temporary memory of a schedule: a stack of blocks that survives from one use to the next. Layer:
/// mpi.
///
/// Threads: one at a time. Ownership: all memory is given back at once, by clear() or the destructor.
/// Errors:  without memory take() returns null, and ok() is false until clear(); no block is added meanwhile.
/// Units:   bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace starling::mpi::coll {

class Scratch {
 public:
  static constexpr std::size_t kAlignment = 64;  ///< a cache line; more than any datatype needs
  static constexpr std::size_t kSmallestBlock = 4096;
  static constexpr std::size_t kKeptBytes = 8u
                                            << 20;  ///< more than this is returned to the system by clear()

  [[nodiscard]] std::byte* take(std::uint64_t bytes) noexcept;
  void refuse() noexcept { ok_ = false; }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  void clear() noexcept;

 private:
  struct Free {
    void operator()(std::byte* block) const noexcept {
      ::operator delete[](block, std::align_val_t{kAlignment});
    }
  };
  struct Block {
    std::unique_ptr<std::byte[], Free> memory;
    std::size_t size = 0, used = 0;
  };
  std::vector<Block> blocks_;
  std::size_t current_ = 0;
  bool ok_ = true;
};

}  // namespace starling::mpi::coll
