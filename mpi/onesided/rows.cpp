// SPDX-License-Identifier: BSD-3-Clause
// Elements in a row. Layer: mpi.

#include "mpi/onesided/rows.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/onesided/elements.hpp"

namespace starling::mpi {

bool lies_in_row(const Datatype& type, Basic element) noexcept {
  return type.contiguous() || type.basic() == element;
}

std::vector<std::byte> gather_row(const Data& data, Basic element, std::uint64_t elements) {
  const std::size_t extent = info_of(element).extent;
  std::vector<std::byte> all(elements * extent);
  if (info_of(element).bytes == extent) {  // packed, it is that row
    data.type.pack(data.base, data.count, 0, all.data(), all.size());
    return all;
  }
  std::size_t at = 0;
  const auto* const base = static_cast<const std::byte*>(data.base);
  each_run(data.type, element, data.count, [&](std::int64_t displacement, std::uint64_t count) {
    const std::size_t bytes = std::min<std::size_t>(count * extent, all.size() - at);
    if (bytes != 0) std::memcpy(all.data() + at, base + displacement, bytes);
    at += bytes;
  });
  return all;
}

void scatter_row(std::span<const std::byte> row, const Data& data, Basic element) {
  const std::size_t extent = info_of(element).extent;
  if (info_of(element).bytes == extent)
    return data.type.unpack(data.base, data.count, 0, row.data(), row.size());
  auto* const base = static_cast<std::byte*>(data.base);
  each_run(data.type, element, data.count, [&](std::int64_t displacement, std::uint64_t count) {
    const std::size_t bytes = std::min<std::size_t>(count * extent, row.size());
    if (bytes != 0) std::memcpy(base + displacement, row.data(), bytes);
    row = row.subspan(bytes);
  });
}

}  // namespace starling::mpi
