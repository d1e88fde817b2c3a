// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  One copy that several processes of a node make together, chunk by chunk. Layer: framework. See
/// docs/design/dynamic.md.
///
/// The claim word holds {generation, chunks, next chunk}. A process that raises the last part with a
/// compare-and-swap of the whole word has claimed that chunk. Before, it names the chunk in a word of its
/// own; after the copy it sets the chunk's bit of `done`, and then takes the name away. So a chunk that is
/// claimed and not done is named by a living process, or its process has died. `done` has bits and no count,
/// since a chunk that is done again after a death must not count twice.
///
/// A claim with a word of an older generation fails. One that succeeds proves that the task was read in this
/// generation: the task changes only when all chunks are done, the one that is being claimed included.
///
/// `Words` gives the atomics, all of 64 bits: word(), field(0..kFields - 1), done(0..) and the constant
/// kDoneWords.
///
/// Threads:   the functions under "The owner" by one thread of the owner; look, take and finish by anybody.
/// Ordering:  what the owner did before open() is visible to every process that claims; what was copied is
///            visible to the owner when ended() is true.
/// Errors:    none. Units: bytes.

#include <atomic>
#include <cstdint>
#include <optional>

namespace starling::shm {

/// Who may take part in a copy.
enum class Helpers : std::uint8_t {
  none,  ///< only receiver and sender
  near,  ///< and processes that share cache or memory with the receiver
  anybody
};

/// What is copied: from the memory of one process to that of another. Both take part, and others may
/// (`helpers`).
struct CopyTask {
  std::uint64_t message = 0;  ///< the sender's number of it
  std::uint64_t from = 0;     ///< addresses, each in its process
  std::uint64_t to = 0;
  std::uint64_t bytes = 0;
  std::uint32_t from_rank = 0;  ///< local ranks, below 65536
  std::uint32_t to_rank = 0;
  std::uint32_t chunk_bytes = 0;
  Helpers helpers = Helpers::none;
};

/// The word in which a process says what it works on: a slot, its generation, a chunk.
[[nodiscard]] constexpr std::uint64_t work_name(std::uint32_t slot, std::uint32_t generation,
                                                std::uint32_t chunk) noexcept {
  return (std::uint64_t{slot} << 48) | (std::uint64_t{generation} << 16) | chunk;
}
inline constexpr std::uint64_t kNoWork = ~std::uint64_t{0};
/// The most chunks of one copy, and the most slots of all processes: what fits into a name.
inline constexpr std::uint32_t kChunksMost = 4096, kSlotsMost = 65535;

template <class Atomics, class Words>
class Claim {
 public:
  using Word = typename Atomics::template Atomic<std::uint64_t>;
  static constexpr unsigned kFields = 6;

  /// `slot`: this one's number among those of the node.
  Claim(Words words, std::uint32_t slot) noexcept : words_(words), slot_(slot) {}

  // The owner
  /// Offers a copy in `chunks`; all chunks of the one before are done. Returns its generation.
  std::uint32_t open(const CopyTask& task, std::uint32_t chunks) noexcept {
    const std::uint32_t generation = generation_of(words_.word().load(std::memory_order_relaxed)) + 1;
    words_.field(0).store(task.message, std::memory_order_relaxed);
    words_.field(1).store(task.from, std::memory_order_relaxed);
    words_.field(2).store(task.to, std::memory_order_relaxed);
    words_.field(3).store(task.bytes, std::memory_order_relaxed);
    words_.field(4).store(std::uint64_t{task.from_rank} << 16 | task.to_rank, std::memory_order_relaxed);
    words_.field(5).store(std::uint64_t{task.chunk_bytes} << 2 | static_cast<std::uint64_t>(task.helpers),
                          std::memory_order_relaxed);
    for (std::uint32_t i = 0; i * 64 < chunks; ++i) words_.done(i).store(0, std::memory_order_relaxed);
    words_.word().store(std::uint64_t{generation} << 32 | std::uint64_t{chunks} << 16,
                        std::memory_order_release);
    return generation;
  }
  /// Whether all chunks are done.
  [[nodiscard]] bool ended() const noexcept {
    const std::uint64_t word = words_.word().load(std::memory_order_relaxed);
    if (next_of(word) < chunks_of(word)) return false;
    for (std::uint32_t i = 0; i * 64 < chunks_of(word); ++i) {
      const std::uint32_t rest = chunks_of(word) - i * 64;
      const std::uint64_t all = rest >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
      if (words_.done(i).load(std::memory_order_acquire) != all) return false;
    }
    return true;
  }
  /// Ends the offer: chunks that nobody has claimed will not be copied.
  void close() noexcept {
    std::uint64_t seen = words_.word().load(std::memory_order_relaxed);
    while (next_of(seen) < chunks_of(seen)) {
      const std::uint64_t closed = (seen & ~std::uint64_t{0xffff}) | chunks_of(seen);
      if (!words_.word().compare_exchange_weak(seen, closed, std::memory_order_relaxed,
                                               std::memory_order_relaxed))
        continue;
      for (std::uint32_t chunk = next_of(seen); chunk < chunks_of(seen); ++chunk) mark_done(chunk);
      return;
    }
  }
  /// A chunk whose process has died: it is neither done nor named by a living process. Nothing: there is none
  /// now. `workers`: how many there are; work(i): the word of each; alive(i): whether it lives. Call it when
  /// there is nothing left to claim.
  template <class Work, class Alive>
  [[nodiscard]] std::optional<std::uint32_t> orphan(std::uint32_t workers, Work&& work,
                                                    Alive&& alive) const noexcept {
    const std::uint64_t word = words_.word().load(std::memory_order_acquire);
    for (std::uint32_t chunk = 0; chunk < next_of(word); ++chunk) {
      const std::uint64_t name = work_name(slot_, generation_of(word), chunk);
      bool held = false;
      for (std::uint32_t i = 0; i < workers && !held; ++i) {
        // A process that has taken the name away since has set the bit before.
        held = work(i).load(std::memory_order_acquire) == name && alive(i);
      }
      if (!held && !is_done(chunk)) return chunk;
    }
    return std::nullopt;
  }
  /// The owner has copied an orphan.
  void mark_done(std::uint32_t chunk) noexcept {
    words_.done(chunk / 64).fetch_or(std::uint64_t{1} << chunk % 64, std::memory_order_release);
  }

  // Anybody
  struct Offer {
    std::uint64_t word = 0;
    CopyTask task;
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_of(word); }
    [[nodiscard]] std::uint32_t chunk() const noexcept { return next_of(word); }
    [[nodiscard]] std::uint32_t chunks() const noexcept { return chunks_of(word); }
  };
  /// The next chunk, if there is one. What it says of the task is certain only after take() has returned
  /// true.
  [[nodiscard]] std::optional<Offer> look() const noexcept {
    const std::uint64_t word = words_.word().load(std::memory_order_acquire);
    if (next_of(word) >= chunks_of(word)) return std::nullopt;
    Offer offer{word, {}};
    offer.task.message = words_.field(0).load(std::memory_order_relaxed);
    offer.task.from = words_.field(1).load(std::memory_order_relaxed);
    offer.task.to = words_.field(2).load(std::memory_order_relaxed);
    offer.task.bytes = words_.field(3).load(std::memory_order_relaxed);
    const std::uint64_t ranks = words_.field(4).load(std::memory_order_relaxed);
    offer.task.from_rank = static_cast<std::uint32_t>(ranks >> 16);
    offer.task.to_rank = static_cast<std::uint32_t>(ranks & 0xffff);
    const std::uint64_t shape = words_.field(5).load(std::memory_order_relaxed);
    offer.task.chunk_bytes = static_cast<std::uint32_t>(shape >> 2);
    offer.task.helpers = static_cast<Helpers>(shape & 3);
    return offer;
  }
  /// Claims the chunk. `work`: the word of this process. False: another process was faster, or the copy is
  /// over.
  [[nodiscard]] bool take(const Offer& offer, Word& work) noexcept {
    // Release, as all stores to this word: a process that reads in it that a chunk is not named any more sees
    // that chunk as done. Relacy cannot tell: in its rules, those of C++11, a later store of the same thread
    // belongs to the release sequence of an earlier one.
    work.store(work_name(slot_, offer.generation(), offer.chunk()),
               std::memory_order_release);  // no model sees it
    std::uint64_t seen = offer.word;
    // Release: a process that sees the chunk claimed sees by whom.
    if (words_.word().compare_exchange_strong(seen, offer.word + 1, std::memory_order_release,
                                              std::memory_order_relaxed))
      return true;
    work.store(kNoWork, std::memory_order_release);  // as above: no model sees it
    return false;
  }
  /// The chunk that was taken is copied.
  void finish(std::uint32_t chunk, Word& work) noexcept {
    mark_done(chunk);
    work.store(kNoWork, std::memory_order_release);
  }

  /// The generation of the copy that is open, or of the last one.
  [[nodiscard]] std::uint32_t generation() const noexcept {
    return generation_of(words_.word().load(std::memory_order_relaxed));
  }
  /// Whether there is nothing left to claim.
  [[nodiscard]] bool all_taken() const noexcept {
    const std::uint64_t word = words_.word().load(std::memory_order_relaxed);
    return next_of(word) >= chunks_of(word);
  }

 private:
  static constexpr std::uint32_t generation_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr std::uint32_t chunks_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 16 & 0xffff);
  }
  static constexpr std::uint32_t next_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word & 0xffff);
  }
  [[nodiscard]] bool is_done(std::uint32_t chunk) const noexcept {
    return (words_.done(chunk / 64).load(std::memory_order_relaxed) >> chunk % 64 & 1) != 0;
  }

  Words words_;
  std::uint32_t slot_;
};

}  // namespace starling::shm
