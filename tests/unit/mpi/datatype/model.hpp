// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Datatypes by the letter of MPI 5.0 chapter 5: a list of entries, every constructor element by
/// element.
///
/// The reference that the real types are compared with; slow and obvious. Layer: test.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/predefined.hpp"

namespace starling::mpi::model {

struct Entry {
  enum class Sort { data, lb_marker, ub_marker, end_of_old };
  Sort sort = Sort::data;
  std::int64_t at = 0;
  std::int64_t bytes = 0;
};

struct Type {
  std::vector<Entry> entries;
  std::int64_t align = 1;

  [[nodiscard]] std::vector<std::int64_t> places(Entry::Sort sort, bool ends) const {
    std::vector<std::int64_t> found;
    for (const Entry& entry : entries) {
      if (entry.sort == sort) found.push_back(entry.at + (ends ? entry.bytes : 0));
    }
    return found;
  }
  static std::int64_t lowest(const std::vector<std::int64_t>& v) {
    return v.empty() ? 0 : *std::min_element(v.begin(), v.end());
  }
  static std::int64_t highest(const std::vector<std::int64_t>& v) {
    return v.empty() ? 0 : *std::max_element(v.begin(), v.end());
  }

  [[nodiscard]] std::int64_t true_lb() const { return lowest(places(Entry::Sort::data, false)); }
  [[nodiscard]] std::int64_t true_ub() const { return highest(places(Entry::Sort::data, true)); }
  [[nodiscard]] std::int64_t lb() const {
    const auto markers = places(Entry::Sort::lb_marker, false);
    return markers.empty() ? true_lb() : lowest(markers);
  }
  [[nodiscard]] std::int64_t ub() const {
    const auto markers = places(Entry::Sort::ub_marker, false);
    if (!markers.empty()) return highest(markers);
    std::int64_t end = true_ub();
    for (const std::int64_t place : places(Entry::Sort::end_of_old, false)) end = std::max(end, place);
    while ((end - true_lb()) % align != 0) ++end;
    return end;
  }
  [[nodiscard]] std::int64_t extent() const { return ub() - lb(); }
  [[nodiscard]] std::int64_t size() const {
    std::int64_t sum = 0;
    for (const Entry& entry : entries) sum += entry.bytes;
    return sum;
  }
  [[nodiscard]] std::int64_t elements() const {
    return std::count_if(entries.begin(), entries.end(),
                         [](const Entry& e) { return e.sort == Entry::Sort::data; });
  }
  /// No byte of `count` elements is named twice.
  [[nodiscard]] bool disjoint(std::int64_t count) const {
    std::vector<std::int64_t> bytes;
    const std::int64_t step = extent();
    for (std::int64_t i = 0; i < count; ++i) {
      for (const Entry& entry : entries) {
        for (std::int64_t b = 0; b < entry.bytes; ++b) bytes.push_back(entry.at + b + i * step);
      }
    }
    std::sort(bytes.begin(), bytes.end());
    return std::adjacent_find(bytes.begin(), bytes.end()) == bytes.end();
  }
  /// An old type takes its padding along.
  void append(const Type& old, std::int64_t at) {
    for (Entry entry : old.entries) {
      entry.at += at;
      if (entry.sort != Entry::Sort::end_of_old) entries.push_back(entry);
    }
    const bool marked = !old.places(Entry::Sort::ub_marker, false).empty();
    if (!marked && old.elements() != 0) entries.push_back({Entry::Sort::end_of_old, at + old.ub(), 0});
    align = std::max(align, old.align);
  }
};

inline Type basic(const Datatype& type) {
  Type result;
  const BasicInfo& info = info_of(type.basic());
  result.align = info.align;
  if (info.first == Basic::none) {
    result.entries.push_back({Entry::Sort::data, 0, info.bytes});
  } else {
    result.entries.push_back({Entry::Sort::data, 0, info_of(info.first).bytes});
    result.entries.push_back({Entry::Sort::data, info.second_offset, info_of(info.second).bytes});
  }
  return result;
}

/// The struct constructor; every other one is an instance of it.
inline Type structure(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& at,
                      const std::vector<Type>& types) {
  Type result;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t step = types[i].extent();
    for (std::int64_t j = 0; j < lengths[i]; ++j) result.append(types[i], at[i] + j * step);
  }
  return result;
}

inline Type hindexed(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& at,
                     const Type& old) {
  return structure(lengths, at, std::vector<Type>(lengths.size(), old));
}

inline Type hvector(std::int64_t count, std::int64_t length, std::int64_t stride, const Type& old) {
  std::vector<std::int64_t> at;
  for (std::int64_t i = 0; i < count; ++i) at.push_back(i * stride);
  return hindexed(std::vector<std::int64_t>(static_cast<std::size_t>(count), length), at, old);
}

inline Type resized(std::int64_t lb, std::int64_t extent, const Type& old) {
  Type result = old;
  std::erase_if(result.entries, [](const Entry& e) { return e.sort != Entry::Sort::data; });
  result.entries.push_back({Entry::Sort::lb_marker, lb, 0});
  result.entries.push_back({Entry::Sort::ub_marker, lb + extent, 0});
  return result;
}

/// The elements of an array whose indices `wanted(dimension, index)` accepts, in memory order.
template <class Wanted>
Type array_part(const std::vector<std::int64_t>& sizes, ArrayOrder order, const Type& old, Wanted&& wanted) {
  const std::size_t n = sizes.size();
  std::int64_t total = 1;
  for (std::int64_t size : sizes) total *= size;
  Type result;
  const std::int64_t step = old.extent();
  for (std::int64_t place = 0; place < total; ++place) {
    std::int64_t rest = place;
    bool take = true;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t d = order == ArrayOrder::fortran ? i : n - 1 - i;
      take = take && wanted(d, rest % sizes[d]);
      rest /= sizes[d];
    }
    if (take) result.append(old, place * step);
  }
  result.align = old.align;
  return resized(0, total * step, result);
}

/// Memory of `count` elements, and where their addresses begin in it.
struct Memory {
  std::vector<unsigned char> bytes;
  std::int64_t origin = 0;
  [[nodiscard]] unsigned char* base() { return bytes.data() + origin; }
};

inline Memory memory_for(const Type& type, std::int64_t count) {
  const std::int64_t last = (count - 1) * type.extent();
  const std::int64_t low = std::min<std::int64_t>({0, type.true_lb(), type.true_lb() + last});
  const std::int64_t high = std::max<std::int64_t>({0, type.true_ub(), type.true_ub() + last});
  Memory memory;
  memory.bytes.resize(static_cast<std::size_t>(high - low) + 1);
  memory.origin = -low;
  return memory;
}

inline std::vector<std::byte> pack(const Type& type, std::int64_t count, const unsigned char* base) {
  std::vector<std::byte> packed;
  const std::int64_t step = type.extent();
  for (std::int64_t i = 0; i < count; ++i) {
    for (const Entry& entry : type.entries) {
      for (std::int64_t b = 0; b < entry.bytes; ++b) {
        packed.push_back(static_cast<std::byte>(base[entry.at + b + i * step]));
      }
    }
  }
  return packed;
}

inline void unpack(const Type& type, std::int64_t count, const std::vector<std::byte>& packed,
                   unsigned char* base) {
  std::size_t next = 0;
  const std::int64_t step = type.extent();
  for (std::int64_t i = 0; i < count; ++i) {
    for (const Entry& entry : type.entries) {
      for (std::int64_t b = 0; b < entry.bytes; ++b) {
        base[entry.at + b + i * step] = static_cast<unsigned char>(packed[next++]);
      }
    }
  }
}

}  // namespace starling::mpi::model
