// SPDX-License-Identifier: BSD-3-Clause
// external32. Walks the typemap, not the compiled program, since every element is converted by its kind. Hard
// part: the elements whose external form has another size: long, wchar_t, and long double, which is IEEE
// binary128 outside.
#include "mpi/datatype/external32.hpp"

#include <bit>
#include <cstring>
#include <limits>

namespace starling::mpi {
namespace {

__extension__ typedef __float128 Float128;

void copy_swapped(const std::byte* from, std::byte* to, std::size_t bytes) noexcept {
  if constexpr (std::endian::native == std::endian::big) {
    std::memcpy(to, from, bytes);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[bytes - 1 - i];
  }
}

/// Writes a value of type T as an external `Narrow`; false if it changes on the way.
template <class T, class Narrow>
bool narrow_out(const std::byte* from, std::byte* to) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  const auto small = static_cast<Narrow>(value);
  std::byte bytes[sizeof small];
  std::memcpy(bytes, &small, sizeof small);
  copy_swapped(bytes, to, sizeof small);
  return static_cast<T>(small) == value || !(value == value);
}

template <class T, class Narrow>
void widen_in(const std::byte* from, std::byte* to) noexcept {
  Narrow small;
  std::byte bytes[sizeof small];
  copy_swapped(from, bytes, sizeof small);
  std::memcpy(&small, bytes, sizeof small);
  const auto value = static_cast<T>(small);
  // The x87 format leaves six bytes of its sixteen undefined; users compare buffers byte by byte.
  constexpr std::size_t kUsed = std::numeric_limits<T>::digits == 64 && sizeof(T) == 16 ? 10 : sizeof(T);
  std::memset(to, 0, sizeof(T));
  std::memcpy(to, &value, kUsed);
}

/// Components that are swapped one by one.
std::uint32_t component_bytes(Basic basic) noexcept {
  switch (basic) {
    case Basic::complex16:
    case Basic::complex32:
    case Basic::complex64:
    case Basic::complex128: return info_of(basic).bytes / 2;
    default: return info_of(basic).bytes;
  }
}

bool element_out(Basic basic, const std::byte* from, std::byte* to) noexcept {
  switch (basic) {
    case Basic::c_long: return narrow_out<long, std::int32_t>(from, to);
    case Basic::c_unsigned_long: return narrow_out<unsigned long, std::uint32_t>(from, to);
    case Basic::wide_character: return narrow_out<wchar_t, std::uint16_t>(from, to);
    case Basic::long_double: return narrow_out<long double, Float128>(from, to);
    case Basic::complex_long_double:
      return narrow_out<long double, Float128>(from, to) &&
             narrow_out<long double, Float128>(from + sizeof(long double), to + sizeof(Float128));
    default: break;
  }
  const std::uint32_t part = component_bytes(basic);
  for (std::uint32_t at = 0; at < info_of(basic).bytes; at += part) copy_swapped(from + at, to + at, part);
  return true;
}

void element_in(Basic basic, const std::byte* from, std::byte* to) noexcept {
  switch (basic) {
    case Basic::c_long: return widen_in<long, std::int32_t>(from, to);
    case Basic::c_unsigned_long: return widen_in<unsigned long, std::uint32_t>(from, to);
    case Basic::wide_character: return widen_in<wchar_t, std::uint16_t>(from, to);
    case Basic::long_double: return widen_in<long double, Float128>(from, to);
    case Basic::complex_long_double:
      widen_in<long double, Float128>(from, to);
      return widen_in<long double, Float128>(from + sizeof(Float128), to + sizeof(long double));
    default: break;
  }
  const std::uint32_t part = component_bytes(basic);
  for (std::uint32_t at = 0; at < info_of(basic).bytes; at += part) copy_swapped(from + at, to + at, part);
}

/// Calls `move(basic, address)` for every basic element in typemap order.
template <class Move>
void walk(const Node& node, std::uintptr_t origin, Move&& move) {
  const auto at = [](std::uintptr_t from, std::int64_t displacement) {
    return from + static_cast<std::uintptr_t>(displacement);
  };
  const auto row = [&](std::uintptr_t from, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      walk(*node.child, at(from, node.stride * static_cast<std::int64_t>(i)), move);
  };
  switch (node.kind) {
    case Node::Kind::leaf:
      for (std::uint64_t i = 0; i < node.count; ++i) move(node.basic, origin + i * info_of(node.basic).bytes);
      break;
    case Node::Kind::loop: row(origin, node.count); break;
    case Node::Kind::blocks:
      for (std::size_t i = 0; i < node.counts.size(); ++i) {
        if (node.counts[i] > 0)
          row(at(origin, node.displacements[i]), static_cast<std::uint64_t>(node.counts[i]));
      }
      break;
    case Node::Kind::list:
      for (const Placed& item : node.items) walk(*item.node, at(origin, item.displacement), move);
      break;
  }
}

template <class Move>
void walk_elements(const Datatype& type, std::uintptr_t base, std::uint64_t count, Move&& move) {
  const Placed& map = type.shape()->map;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t from = static_cast<std::int64_t>(i) * type.extent() + map.displacement;
    walk(*map.node, base + static_cast<std::uintptr_t>(from), move);
  }
}

}  // namespace

std::uint64_t external_bytes(const Node& node) noexcept {
  switch (node.kind) {
    case Node::Kind::leaf: return node.count == 0 ? 0 : node.count * info_of(node.basic).external_bytes;
    case Node::Kind::loop:
    case Node::Kind::blocks:
      // Every child has the same size in both forms.
      return node.size / node.child->size * external_bytes(*node.child);
    case Node::Kind::list: {
      std::uint64_t bytes = 0;
      for (const Placed& item : node.items) bytes += external_bytes(*item.node);
      return bytes;
    }
  }
  return 0;
}

bool pack_external(const Datatype& type, const void* base, std::uint64_t count, std::byte* to) noexcept {
  bool good = true;
  walk_elements(type, reinterpret_cast<std::uintptr_t>(base), count,
                [&](Basic basic, std::uintptr_t address) {
                  good = element_out(basic, reinterpret_cast<const std::byte*>(address), to) && good;
                  to += info_of(basic).external_bytes;
                });
  return good;
}

void unpack_external(const Datatype& type, void* base, std::uint64_t count, const std::byte* from) noexcept {
  walk_elements(type, reinterpret_cast<std::uintptr_t>(base), count,
                [&](Basic basic, std::uintptr_t address) {
                  element_in(basic, from, reinterpret_cast<std::byte*>(address));
                  from += info_of(basic).external_bytes;
                });
}

}  // namespace starling::mpi
