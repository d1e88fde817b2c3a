// SPDX-License-Identifier: BSD-3-Clause
// Info objects. Layer: mpi. Few keys each, so entries are searched one by one.

#include "mpi/info/info.hpp"

#include <algorithm>

#include "mpi/handles.hpp"
#include "mpi/info/env.hpp"

namespace starling::mpi {
namespace {

auto with_key(std::string_view key) {
  return [key](const auto& entry) { return entry.first == key; };
}

}  // namespace

Info* make_predefined_info(HandleBits constant) {
  if (constant != as_bits(MPI_INFO_ENV)) return nullptr;
  auto* const info = new Info;
  describe_environment(*info, 0, nullptr);
  info->set_handle(constant);
  return info;
}

void Info::set(std::string_view key, std::string_view value) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(), with_key(key));
  if (found != entries_.end()) {
    found->second = value;
  } else {
    entries_.emplace_back(key, value);
  }
}

std::optional<std::string> Info::get(std::string_view key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(), with_key(key));
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

bool Info::erase(std::string_view key) {
  const std::scoped_lock lock(mutex_);
  return std::erase_if(entries_, with_key(key)) != 0;
}

std::size_t Info::size() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

std::optional<std::string> Info::nth(std::size_t index) const {
  const std::scoped_lock lock(mutex_);
  if (index >= entries_.size()) return std::nullopt;
  return entries_[index].first;
}

Info::Entries Info::entries() const {
  const std::scoped_lock lock(mutex_);
  return entries_;
}

}  // namespace starling::mpi
