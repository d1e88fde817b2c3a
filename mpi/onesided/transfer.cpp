// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets: the checks, and the path to the target. On mapped memory they are one copy, from type to
// type. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/transfer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/onesided/cross_memory.hpp"
#include "mpi/onesided/gaps.hpp"
#include "mpi/onesided/operations.hpp"
#include "mpi/onesided/post_start.hpp"
#include "mpi/onesided/regions.hpp"
#include "mpi/onesided/synchronise.hpp"

namespace starling::mpi {
namespace {

/// What is packed at a time between two types with gaps: it stays in the nearest cache.
constexpr std::size_t kPiece = 16384;

std::byte* bytes_at(void* base) noexcept { return static_cast<std::byte*>(base); }

int outside(const Win& win, const Spot& place, std::int64_t first, std::int64_t end) {
  const auto rank = static_cast<std::uint32_t>(place.rank);
  return error(MPI_ERR_RMA_RANGE, win.label(rank) + ": bytes " + std::to_string(first) + ".." +
                                      std::to_string(end) + " (target_disp " + std::to_string(place.disp) +
                                      " of " + std::to_string(win.target(rank).unit) +
                                      " bytes each) are not all in it");
}

int too_far(const Win& win, const Spot& place) {
  return error(MPI_ERR_RMA_RANGE, win.label(static_cast<std::uint32_t>(place.rank)) + ": target_disp " +
                                      std::to_string(place.disp) + " is not in it");
}

/// What is moved has to fit, as a message's data has.
int check_lengths(const Win& win, int rank, std::uint64_t given, std::uint64_t room) {
  if (given <= room) [[likely]]
    return MPI_SUCCESS;
  return error(MPI_ERR_TRUNCATE, win.label(static_cast<std::uint32_t>(rank)) + ": " + std::to_string(given) +
                                     " bytes are to be moved, and the destination's count and type have " +
                                     std::to_string(room));
}

/// The target checks the address; origins on its node check it too, for most pieces.
int locate_address(const Win& win, const Spot& place, Located& found) {
  if (place.count * place.type.size() == 0) return MPI_SUCCESS;
  found.offset = static_cast<std::uint64_t>(place.disp);
  const std::uint64_t first = found.offset + static_cast<std::uint64_t>(place.type.gap(place.count));
  if (found.rank == win.rank() &&
      !holds(win, first, static_cast<std::uint64_t>(place.type.span_bytes(place.count)))) {
    return error(MPI_ERR_RMA_RANGE, win.label(found.rank) + ": " +
                                        std::to_string(place.type.span_bytes(place.count)) + " bytes at " +
                                        range_text(win, first) + " are not all attached");
  }
  found.target = win.near(found.rank, first, static_cast<std::uint64_t>(place.type.span_bytes(place.count)));
  if (found.target == nullptr) found.target = &win.target(found.rank);
  return MPI_SUCCESS;
}

}  // namespace

int check_target(const Win& win, int rank) {
  if ((rank >= 0 && static_cast<std::uint32_t>(rank) < win.size()) || rank == MPI_PROC_NULL)
    return MPI_SUCCESS;
  return error(MPI_ERR_RANK, "target_rank is " + std::to_string(rank) + ", expected 0.." +
                                 std::to_string(win.size() - 1) + " or MPI_PROC_NULL");
}

int locate(Win& win, const Spot& place, Located& found) {
  if (const int rc = check_target(win, place.rank); rc != MPI_SUCCESS) return rc;
  if (place.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  found.rank = static_cast<std::uint32_t>(place.rank);
  if (!accessible(win, found.rank)) [[unlikely]] {
    if (const int rc = await_post(win, found.rank); rc != MPI_SUCCESS) return rc;
  }
  const Target& target = win.target(found.rank);
  if (win.flavor() == MPI_WIN_FLAVOR_DYNAMIC) [[unlikely]]
    return locate_address(win, place, found);
  if (place.disp < 0) {
    return error(MPI_ERR_DISP, win.label(found.rank) + ": target_disp is " + std::to_string(place.disp) +
                                   ", expected 0 or more");
  }
  std::int64_t offset = 0, end = 0;
  if (__builtin_mul_overflow(place.disp, target.unit, &offset)) return too_far(win, place);
  if (place.count * place.type.size() == 0) return MPI_SUCCESS;  // wherever it is
  const std::int64_t first = offset + place.type.gap(place.count);
  if (__builtin_add_overflow(first, place.type.span_bytes(place.count), &end)) return too_far(win, place);
  if (first < 0 || static_cast<std::uint64_t>(end) > target.size) [[unlikely]]
    return outside(win, place, first, end);
  found.offset = static_cast<std::uint64_t>(offset);
  found.target = &target;
  return MPI_SUCCESS;
}

void copy_elements(const Data& from, const Data& to) noexcept {
  const std::uint64_t bytes = std::min(from.bytes(), to.bytes());
  if (bytes == 0) return;
  if (from.type.contiguous() && to.type.contiguous()) {
    std::memmove(to.base, from.base, bytes);
  } else if (from.type.contiguous()) {
    to.type.unpack(to.base, to.count, 0, bytes_at(from.base), bytes);
  } else if (to.type.contiguous()) {
    from.type.pack(from.base, from.count, 0, bytes_at(to.base), bytes);
  } else {
    std::array<std::byte, kPiece> piece;
    for (std::uint64_t done = 0; done < bytes; done += kPiece) {
      const std::size_t now = std::min<std::uint64_t>(kPiece, bytes - done);
      from.type.pack(from.base, from.count, done, piece.data(), now);
      to.type.unpack(to.base, to.count, done, piece.data(), now);
    }
  }
}

namespace {

/// A row of few bytes on both sides, by a target that waits in MPI.
ActiveMessages::Outcome active_message(Win& win, Direction direction, const Data& origin, const Spot& place,
                                       const Located& found) {
  if (win.active_messages == nullptr || !origin.type.contiguous() || !place.type.contiguous()) return {};
  const std::span bytes(bytes_at(origin.base), std::min(origin.bytes(), place.count * place.type.size()));
  return direction == Direction::put ? win.active_messages->put(found.rank, found.offset, bytes)
                                     : win.active_messages->get(found.rank, found.offset, bytes);
}

/// Elements with small runs and gaps between them, in private memory of a local peer: bytes, as accumulates
/// have them. 0 or errno.
int move_gaps(Win& win, Direction direction, const Data& origin, const Spot& place, const Located& found) {
  const bool puts = direction == Direction::put;
  std::vector<std::byte> row(std::min(origin.bytes(), place.count * place.type.size()));
  if (puts) origin.type.pack(origin.base, origin.count, 0, row.data(), row.size());
  Work work(win, found.rank, puts ? OpCode::replace : OpCode::no_op, Basic::byte);
  GapWork gaps(work, puts ? row.data() : nullptr, puts ? nullptr : row.data(), row.size());
  std::uint64_t left = row.size();  // the origin may have less than the target
  each_series_of_bytes(place.type, place.count, [&](Runs series) {
    const std::uint64_t all = std::exchange(series.runs, std::min(series.runs, left / series.count));
    if (series.runs != 0) gaps.add(found.offset, series);
    left -= series.runs * series.count;
    // Of the run after these, the part that is left ends it.
    const std::int64_t next = series.displacement + static_cast<std::int64_t>(series.runs) * series.stride;
    if (left != 0 && series.runs < all) gaps.add(found.offset, {next, std::exchange(left, 0)});
  });
  gaps.finish();
  if (!puts && work.failed() == 0) origin.type.unpack(origin.base, origin.count, 0, row.data(), row.size());
  return work.failed();
}

/// What a row is good for: longer runs are not worth the copy into one, nor are more bytes.
bool has_small_runs(const Win& win, const Spot& place) noexcept {
  constexpr std::uint64_t kSmallRun = 128, kMostBytes = std::uint64_t{1} << 24;
  if (win.active_messages == nullptr || place.type.contiguous()) return false;
  return first_run(place.type) <= kSmallRun && place.count * place.type.size() <= kMostBytes;
}

/// All paths of puts and gets except Path::direct.
[[gnu::noinline]] int move(Win& win, Direction direction, const Data& origin, const Spot& place,
                           const Located& found) {
  const Target& target = *found.target;
  if (target.path == Path::message) {
    if (direction == Direction::put) {
      message::put(win, origin, place, found);
    } else {
      message::get(win, origin, place, found);
    }
    return MPI_SUCCESS;
  }
  ActiveMessages::Outcome done = has_small_runs(win, place)
                                     ? move_gaps(win, direction, origin, place, found)
                                     : active_message(win, direction, origin, place, found);
  if (!done) {
    done = CrossMemory::of(target).move(direction, origin, target.address + found.offset, place.count,
                                        place.type);
  }
  return *done == 0 ? MPI_SUCCESS : copy_error(win, found.rank, *done);
}

}  // namespace

int put(Win& win, const Data& origin, const Spot& place) {
  Located found;
  if (const int rc = locate(win, place, found); rc != MPI_SUCCESS) return rc;
  const std::uint64_t room = place.count * place.type.size();
  if (place.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int rc = check_lengths(win, place.rank, origin.bytes(), room); rc != MPI_SUCCESS) return rc;
  if (found.target == nullptr) return MPI_SUCCESS;
  if (win.overlaps) [[unlikely]]
    win.overlaps->note(Overlaps::Kind::put, found, place);
  if (found.target->path != Path::direct) return move(win, Direction::put, origin, place, found);
  copy_elements(origin, {found.target->at(found.offset), place.count, place.type});
  return MPI_SUCCESS;
}

int get(Win& win, const Data& origin, const Spot& place) {
  Located found;
  if (const int rc = locate(win, place, found); rc != MPI_SUCCESS) return rc;
  const std::uint64_t given = place.count * place.type.size();
  if (place.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (const int rc = check_lengths(win, place.rank, given, origin.bytes()); rc != MPI_SUCCESS) return rc;
  if (found.target == nullptr) return MPI_SUCCESS;
  if (win.overlaps) [[unlikely]]
    win.overlaps->note(Overlaps::Kind::get, found, place);
  if (found.target->path != Path::direct) return move(win, Direction::get, origin, place, found);
  copy_elements({found.target->at(found.offset), place.count, place.type}, origin);
  return MPI_SUCCESS;
}

}  // namespace starling::mpi
