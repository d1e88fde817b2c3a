// SPDX-License-Identifier: BSD-3-Clause
// Overlaps of one epoch. What is hard: to tell no false ones. Two operations are of one epoch if nothing can
// have ordered them: they lie between the same fences, in the same exposure epoch of the target, or both have
// not been completed by a flush or unlock. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/overlaps.hpp"

#include <sched.h>

#include <array>
#include <string>

#include "core/log.hpp"
#include "mpi/onesided/elements.hpp"
#include "mpi/onesided/transfer.hpp"
#include "mpi/onesided/window.hpp"

namespace starling::mpi {
namespace {

/// An operation of more pieces is not looked at.
constexpr std::size_t kMostPieces = 64;
/// A window tells no more overlaps than these, on each origin.
constexpr std::uint32_t kMostTold = 8;
/// Who holds a log for longer has died: then nothing is compared.
constexpr std::uint32_t kMostYields = 10000;

struct Piece {
  std::uint64_t first, end;
};
struct Pieces {
  std::array<Piece, kMostPieces> list;
  std::size_t count = 0;
  bool fits = true;

  void add(std::uint64_t first, std::uint64_t bytes) noexcept {
    if (count != 0 && list[count - 1].end == first) {
      list[count - 1].end += bytes;
      return;
    }
    fits = fits && count < kMostPieces;
    if (fits) list[count++] = {first, first + bytes};
  }
};

Pieces pieces_of(const Located& found, const Spot& place) {
  Pieces pieces;
  if (place.type.contiguous()) {
    const auto gap = static_cast<std::uint64_t>(place.type.gap(place.count));
    pieces.add(found.offset + gap, place.count * place.type.size());
    return pieces;
  }
  each_run_of_bytes(place.type, place.count, [&](std::int64_t displacement, std::uint64_t bytes) {
    pieces.add(found.offset + static_cast<std::uint64_t>(displacement), bytes);
  });
  return pieces;
}

class Held {
 public:
  explicit Held(OverlapLog& log) noexcept : log_(log) {
    std::uint32_t free = 0;
    for (std::uint32_t yields = 0; yields < kMostYields; ++yields, free = 0) {
      if (log_.busy.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) {
        got_ = true;
        return;
      }
      ::sched_yield();
    }
  }
  ~Held() {
    if (got_) log_.busy.store(0, std::memory_order_release);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  explicit operator bool() const noexcept { return got_; }

 private:
  OverlapLog& log_;
  bool got_ = false;
};

const char* text_of(std::uint8_t kind) noexcept {
  switch (static_cast<Overlaps::Kind>(kind)) {
    case Overlaps::Kind::put: return "put";
    case Overlaps::Kind::get: return "get";
    case Overlaps::Kind::accumulate: break;
  }
  return "accumulate";
}

std::string range_of(const OverlapLog::Entry& entry) {
  return "bytes " + std::to_string(entry.first) + ".." + std::to_string(entry.end);
}

bool harmless(std::uint8_t a, std::uint8_t b) noexcept {
  return a == b && a != static_cast<std::uint8_t>(Overlaps::Kind::put);
}

}  // namespace

void Overlaps::exposed() noexcept {
  win_.control().overlaps(win_.seat()).exposures.fetch_add(1, std::memory_order_relaxed);
}

void Overlaps::completed() noexcept {
  win_.control().overlaps(win_.seat()).completions.fetch_add(1, std::memory_order_release);
}

/// Without its range.
OverlapLog::Entry Overlaps::next_entry(Kind kind, const Located& found) const noexcept {
  const Control& control = win_.control();
  OverlapLog::Entry entry{0, 0, 0, win_.seat(), OverlapLog::Mode::passive, static_cast<std::uint8_t>(kind)};
  if (win_.epochs.fence) {
    entry.mode = OverlapLog::Mode::fence;
    entry.stamp = fences_;
  } else if (win_.epochs.held[found.rank] == Win::Held::started) {
    entry.mode = OverlapLog::Mode::started;
    entry.stamp = control.overlaps(found.target->seat).exposures.load(std::memory_order_relaxed);
  } else {
    entry.stamp = control.overlaps(win_.seat()).completions.load(std::memory_order_relaxed);
  }
  return entry;
}

void Overlaps::note(Kind kind, const Located& found, const Spot& place) {
  if (found.target == nullptr || found.target->seat == Target::kElsewhere) return;
  const Pieces pieces = pieces_of(found, place);
  if (!pieces.fits) return;
  OverlapLog& log = win_.control().overlaps(found.target->seat);
  OverlapLog::Entry fresh = next_entry(kind, found);
  const Held held(log);
  if (!held) return;
  // First compared, then noted: so pieces of one operation are not compared with each other.
  for (std::size_t i = 0; i < pieces.count; ++i) {
    fresh.first = pieces.list[i].first;
    fresh.end = pieces.list[i].end;
    compare(log, fresh, found.rank);
  }
  for (std::size_t i = 0; i < pieces.count; ++i) {
    fresh.first = pieces.list[i].first;
    fresh.end = pieces.list[i].end;
    log.entries[log.next++ % OverlapLog::kEntries] = fresh;
  }
}

void Overlaps::compare(const OverlapLog& log, const OverlapLog::Entry& fresh, std::uint32_t target) {
  for (const OverlapLog::Entry& old : log.entries) {
    if (old.mode != fresh.mode || old.first >= fresh.end || fresh.first >= old.end) continue;
    if (harmless(old.kind, fresh.kind)) continue;
    const std::uint64_t now =
        fresh.mode == OverlapLog::Mode::passive
            ? win_.control().overlaps(old.origin).completions.load(std::memory_order_acquire)
            : fresh.stamp;
    if (old.stamp == now) return tell(fresh, old, target);
  }
}

void Overlaps::tell(const OverlapLog::Entry& fresh, const OverlapLog::Entry& old, std::uint32_t target) {
  if (told_ == kMostTold) return;
  ++told_;
  log::warning(win_.label(target) + ": a " + text_of(fresh.kind) + " of " + range_of(fresh) + " by rank " +
               std::to_string(win_.rank()) + " overlaps a " + text_of(old.kind) + " of " + range_of(old) +
               " by rank " + std::to_string(win_.domain().local_peers[old.origin]) +
               " in the same epoch: what comes of it is undefined (onesided_check)" +
               (told_ == kMostTold ? "; more are not told" : ""));
}

}  // namespace starling::mpi
