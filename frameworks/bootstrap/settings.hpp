// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What all members of a communicator must have alike: the library and some parameters.
/// Layer: framework.
///
/// A parameter says so in its declaration (params/decl.hpp). Every first message of a creation carries the
/// hash. Where two differ, one asks the other for the whole list, and names what differs with both origins.
///
/// Threads:   values; any.
/// Ownership: plain values.
/// Errors:    none.

#include <cstdint>
#include <string>
#include <string_view>

#include "params/registry.hpp"

namespace starling::bootstrap {

class Settings {
 public:
  /// Nothing: equal to that of every other process that has nothing.
  Settings() = default;
  /// `library`: its version. `who`: this process, for people: "rank 3 (host n7)".
  [[nodiscard]] static Settings of(const params::Registry& params, std::string_view library, std::string who);

  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  /// The first line is `who`; the others as params/differences.hpp has them.
  [[nodiscard]] const std::string& list() const noexcept { return list_; }
  /// Those that some source has set, for people; empty: none.
  [[nodiscard]] const std::string& set() const noexcept { return set_; }

 private:
  std::uint64_t hash_ = 0;
  std::string list_;
  std::string set_;
};

}  // namespace starling::bootstrap
