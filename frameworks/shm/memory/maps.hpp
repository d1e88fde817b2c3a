// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Maps of other processes' memory objects, made on demand and kept. Layer: framework. See
/// docs/design/shared-memory.md.
///
/// A map is known by its object's number, which is never used again: memory that was freed and made anew at
/// the same addresses is another object, and the old map is not found for it. So each use looks the address
/// up in its owner's table, in shared memory.
///
/// Asking for an object takes one datagram each way, and is not waited for: `coming` says to ask again.
///
/// Threads:   one at a time.
/// Ownership: owns the maps and one socket; borrows the node segment. A pointer is good until the next call.
/// Errors:    an object that cannot be had is not asked for again; `why` says why, for people. Without memory
///            for its own bookkeeping it finds nothing.
/// Units:     bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/mapping.hpp"
#include "core/result.hpp"
#include "frameworks/shm/mailbox.hpp"
#include "frameworks/shm/memory/range_table.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::shm {

class MemoryMaps {
 public:
  /// `most`: maps that are kept; the one that was not used for longest goes first.
  MemoryMaps(NodeSegment& segment, std::uint32_t most, Access access) noexcept
      : segment_(segment), most_(most), access_(access) {}

  enum class State : std::uint8_t {
    none,      ///< the bytes are not in an object of that process
    changing,  ///< its owner is making or freeing one just now
    seen,      ///< they are, for the first time; nothing has been asked for
    coming,    ///< the object has been asked for
    refused,   ///< it cannot be had
    mapped
  };
  struct View {
    State state = State::none;
    std::byte* at = nullptr;  ///< of the first byte, if mapped
    bool used = false;        ///< these bytes were looked for before, so that their pages are there
  };
  /// Where [address, address + bytes) of a process is mapped. `insist`: asks for the object at once, not only
  /// when it is seen for the second time.
  [[nodiscard]] View find(std::uint32_t local_rank, std::uint64_t address, std::size_t bytes,
                          bool insist) noexcept;
  /// Maps these bytes' object at once and gives the map, of the whole object, to the caller. Waits until the
  /// owner's thread has answered; the owner need do nothing. Error: it cannot be had.
  [[nodiscard]] Result<Mapping> fetch(std::uint32_t local_rank, std::uint64_t address, std::size_t bytes);
  /// Whether find() may come to `mapped` for this address. Asks for nothing.
  [[nodiscard]] bool possible(std::uint32_t local_rank, std::uint64_t address) const noexcept;

  /// Forgets a process that has ended.
  void drop(std::uint32_t local_rank) noexcept;
  /// Forgets what its owners have freed since.
  void drop_freed() noexcept;

  /// Objects that are known, mapped or not.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t mapped() const noexcept;
  /// Why the last object that was refused could not be had.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  struct Entry {
    std::uint32_t local_rank = 0;
    State state = State::seen;
    Range range;
    Mapping mapping;
    std::uint64_t used_end = 0;  // bytes below were looked for
    std::uint64_t last_use = 0;
    std::uint64_t deadline_ns = 0;  // of an answer; 0: it has not been asked for
  };
  [[nodiscard]] const Entry* known(std::uint32_t local_rank, std::uint64_t id) const noexcept;
  [[nodiscard]] View find_or_throw(std::uint32_t local_rank, std::uint64_t address, std::size_t bytes,
                                   bool insist);
  [[nodiscard]] Entry& entry_for(std::uint32_t local_rank, const Range& range);
  void ask(Entry& entry);
  void read_answers();
  void refuse(Entry& entry, std::string why);

  NodeSegment& segment_;
  std::uint32_t most_;
  Access access_;
  std::vector<Entry> entries_;
  std::uint64_t uses_ = 0;
  std::optional<Mailbox> box_;
  std::string why_;
};

}  // namespace starling::shm
