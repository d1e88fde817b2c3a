// SPDX-License-Identifier: BSD-3-Clause
// Values by the type that they have. Layer: plugin.

#include "plugins/pmi/pmix/values.hpp"

#include <algorithm>
#include <cstring>

namespace starling::pmi::pmix {
namespace {

template <class Number>
std::optional<std::uint64_t> not_negative(Number number) {
  if (number < Number{0}) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

void copy_name(char* into, std::size_t bytes, std::string_view name) noexcept {
  const std::size_t length = std::min(name.size(), bytes - 1);
  std::memcpy(into, name.data(), length);
  into[length] = '\0';
}

}  // namespace

std::optional<std::uint64_t> number_of(const pmix_value_t& value) {
  switch (value.type) {
    case PMIX_BYTE: return value.data.byte;
    case PMIX_SIZE: return value.data.size;
    case PMIX_PID: return not_negative(value.data.pid);
    case PMIX_INT: return not_negative(value.data.integer);
    case PMIX_INT8: return not_negative(value.data.int8);
    case PMIX_INT16: return not_negative(value.data.int16);
    case PMIX_INT32: return not_negative(value.data.int32);
    case PMIX_INT64: return not_negative(value.data.int64);
    case PMIX_UINT: return value.data.uint;
    case PMIX_UINT8: return value.data.uint8;
    case PMIX_UINT16: return value.data.uint16;
    case PMIX_UINT32: return value.data.uint32;
    case PMIX_UINT64: return value.data.uint64;
    case PMIX_PROC_RANK: return value.data.rank;
    default: return std::nullopt;
  }
}

std::optional<std::string> text_of(const pmix_value_t& value) {
  if (value.type != PMIX_STRING || value.data.string == nullptr) return std::nullopt;
  return std::string(value.data.string);
}

std::optional<std::vector<std::byte>> bytes_of(const pmix_value_t& value) {
  if (value.type != PMIX_BYTE_OBJECT) return std::nullopt;
  const auto* const begin = reinterpret_cast<const std::byte*>(value.data.bo.bytes);
  if (begin == nullptr) return std::vector<std::byte>{};
  return std::vector<std::byte>(begin, begin + value.data.bo.size);
}

pmix_proc_t proc_of(std::string_view nspace, pmix_rank_t rank) noexcept {
  pmix_proc_t proc{};
  copy_name(proc.nspace, sizeof proc.nspace, nspace);
  proc.rank = rank;
  return proc;
}

pmix_info_t flag(const char* key) noexcept {
  pmix_info_t info{};
  copy_name(info.key, sizeof info.key, key);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
  return info;
}

pmix_info_t text_info(std::string_view key, const std::string& text) noexcept {
  pmix_info_t info{};
  copy_name(info.key, sizeof info.key, key);
  info.value.type = PMIX_STRING;
  info.value.data.string = const_cast<char*>(text.c_str());
  return info;
}

pmix_value_t bytes_value(std::span<const std::byte> bytes) noexcept {
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
  value.data.bo.size = bytes.size();
  return value;
}

}  // namespace starling::pmi::pmix
