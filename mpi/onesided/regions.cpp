// SPDX-License-Identifier: BSD-3-Clause
// Memory of dynamic windows. Attaching is local (section 12.2.4). Layer: mpi.

#include "mpi/onesided/regions.hpp"

#include <cstdio>
#include <iterator>

#include "mpi/error.hpp"

namespace starling::mpi {

int attach(Win& win, void* base, MPI_Aint size) {
  if (win.flavor() != MPI_WIN_FLAVOR_DYNAMIC)
    return error(MPI_ERR_RMA_FLAVOR, win.label() + ": expected one of MPI_Win_create_dynamic");
  if (size < 0) return error(MPI_ERR_SIZE, "size is " + std::to_string(size) + ", expected 0 or more");
  const auto begin = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(base));
  const auto bytes = static_cast<std::uint64_t>(size);
  const auto above = win.regions.upper_bound(begin);
  const bool meets_above = above != win.regions.end() && above->first < begin + bytes;
  const bool meets_below =
      above != win.regions.begin() &&
      (std::prev(above)->first + std::prev(above)->second > begin || std::prev(above)->first == begin);
  if (meets_above || meets_below)
    return error(MPI_ERR_RMA_ATTACH, win.label() + ": some of these bytes are attached already");
  win.regions.emplace(begin, bytes);
  // Not if the table is full: then others send messages.
  AttachedRanges listed = win.control().attached(win.seat());
  (void)listed.insert({begin, bytes, listed.version(), 0});
  return MPI_SUCCESS;
}

int detach(Win& win, const void* base) {
  if (win.regions.erase(reinterpret_cast<std::uintptr_t>(base)) != 0) {
    (void)win.control().attached(win.seat()).erase(reinterpret_cast<std::uintptr_t>(base));
    return MPI_SUCCESS;
  }
  return error(MPI_ERR_RMA_ATTACH, win.label() + ": base is not the beginning of attached memory");
}

bool holds(const Win& win, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (win.flavor() != MPI_WIN_FLAVOR_DYNAMIC) {
    const std::uint64_t size = win.own().size;
    return offset <= size && bytes <= size - offset;
  }
  // Regions that lie one behind the other are one piece of memory, too.
  auto above = win.regions.upper_bound(offset);
  if (above == win.regions.begin()) return false;
  std::uint64_t end = std::prev(above)->first + std::prev(above)->second;
  while (above != win.regions.end() && above->first == end) end += (above++)->second;
  return offset <= end && bytes <= end - offset;
}

std::string range_text(const Win& win, std::uint64_t offset) {
  if (win.flavor() != MPI_WIN_FLAVOR_DYNAMIC)
    return "target offset " + std::to_string(static_cast<std::int64_t>(offset));
  char text[32];
  std::snprintf(text, sizeof text, "address %#llx", static_cast<unsigned long long>(offset));
  return text;
}

}  // namespace starling::mpi
