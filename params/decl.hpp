// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The declaration of one parameter, as data. Layer: params.
///
/// Declarations are made once, beside the code that reads them, as constexpr values; a plugin's are in an ELF
/// section of its file (core/plugin/descriptor.hpp). Everything else (parsing, ranges, help, listings, MPI_T
/// control variables) is derived from them. Relocation-free.
/// Units:     sizes in bytes, times in the unit the name ends with.

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/fixed_string.hpp"

namespace starling::params {

enum class Type : std::uint32_t {
  boolean = 0,   ///< 0|1|no|yes|false|true|off|on
  integer = 1,   ///< decimal or 0x, with the suffixes k m g (powers of 1024) if Decl::units is set
  text = 2,      ///< any text
  choice = 3,    ///< one of Decl::choices
  selection = 4  ///< a component list: `a,b` or `^a,b`
};

/// Who must have a parameter alike.
enum class Alike : std::uint16_t {
  nobody = 0,
  members = 1,  ///< all members of a communicator
  job = 2       ///< all ranks of a job, which could not meet otherwise
};

struct Decl {
  FixedString<64> name;      ///< without the STARLING_MCA_ prefix
  FixedString<64> synonym;   ///< another accepted name (a known one of Open MPI's), or empty
  FixedString<96> fallback;  ///< the default, written as a user would write it
  FixedString<128> choices;  ///< for Type::choice: the values, separated by '|'
  FixedString<320> help;     ///< what it does and when to change it, for people
  Type type = Type::text;
  std::uint16_t units = 0;  ///< 1: sizes, k/m/g suffixes are accepted
  std::uint16_t equal = 0;  ///< who must have equal values, as a number of Alike
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
static_assert(std::is_trivially_copyable_v<Decl> && sizeof(Decl) == 696);

// Makers, so that a declaration reads as a sentence. `text` literals are checked at compile time.
consteval Decl boolean(FixedString<64> name, FixedString<96> fallback, FixedString<320> help,
                       FixedString<64> synonym = {}) {
  return {.name = name,
          .synonym = synonym,
          .fallback = fallback,
          .choices = {},
          .help = help,
          .type = Type::boolean};
}
consteval Decl integer(FixedString<64> name, FixedString<96> fallback, std::int64_t min, std::int64_t max,
                       FixedString<320> help, FixedString<64> synonym = {}) {
  return {.name = name,
          .synonym = synonym,
          .fallback = fallback,
          .choices = {},
          .help = help,
          .type = Type::integer,
          .units = 0,
          .min = min,
          .max = max};
}
consteval Decl size_bytes(FixedString<64> name, FixedString<96> fallback, std::int64_t min, std::int64_t max,
                          FixedString<320> help, FixedString<64> synonym = {}) {
  return {.name = name,
          .synonym = synonym,
          .fallback = fallback,
          .choices = {},
          .help = help,
          .type = Type::integer,
          .units = 1,
          .min = min,
          .max = max};
}
consteval Decl text(FixedString<64> name, FixedString<96> fallback, FixedString<320> help,
                    FixedString<64> synonym = {}) {
  return {.name = name,
          .synonym = synonym,
          .fallback = fallback,
          .choices = {},
          .help = help,
          .type = Type::text};
}
consteval Decl choice(FixedString<64> name, FixedString<96> fallback, FixedString<128> choices,
                      FixedString<320> help, FixedString<64> synonym = {}) {
  return {.name = name,
          .synonym = synonym,
          .fallback = fallback,
          .choices = choices,
          .help = help,
          .type = Type::choice};
}
consteval Decl selection(FixedString<64> name, FixedString<96> fallback, FixedString<320> help) {
  return {.name = name,
          .synonym = {},
          .fallback = fallback,
          .choices = {},
          .help = help,
          .type = Type::selection};
}
/// The declaration with one rule more: members of a communicator with different values are an error that
/// names both.
consteval Decl equal_everywhere(Decl decl) {
  decl.equal = static_cast<std::uint16_t>(Alike::members);
  return decl;
}
/// The same for all ranks of a job: the parameter says how processes meet that have exchanged nothing yet, so
/// that the process manager has to find the difference.
consteval Decl equal_in_job(Decl decl) {
  decl.equal = static_cast<std::uint16_t>(Alike::job);
  return decl;
}
/// Who that is, for people; empty: nobody.
constexpr std::string_view who_alike(const Decl& decl) noexcept {
  switch (static_cast<Alike>(decl.equal)) {
    case Alike::nobody: break;
    case Alike::members: return "members of a communicator";
    case Alike::job: return "ranks of a job";
  }
  return {};
}

}  // namespace starling::params
