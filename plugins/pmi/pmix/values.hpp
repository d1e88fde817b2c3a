// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  PMIx's values, infos and names as C++ types. Layer: plugin.
///
/// Servers disagree about the types of what they tell (a rank comes as a rank, an int or a uint32), so a
/// value is converted by the type that it has, never by the one that was expected.
///
/// Threads: functions of their arguments. Ownership: infos borrow what they point to.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/pmi/pmix/library.hpp"

namespace starling::pmi::pmix {

/// A whole number of any integral type that is not negative; none: it is no such number.
[[nodiscard]] std::optional<std::uint64_t> number_of(const pmix_value_t& value);
/// A text that is not null.
[[nodiscard]] std::optional<std::string> text_of(const pmix_value_t& value);
/// The bytes of a byte object.
[[nodiscard]] std::optional<std::vector<std::byte>> bytes_of(const pmix_value_t& value);

/// One process, or PMIX_RANK_WILDCARD, of a namespace.
[[nodiscard]] pmix_proc_t proc_of(std::string_view nspace, pmix_rank_t rank) noexcept;
/// A flag that is set.
[[nodiscard]] pmix_info_t flag(const char* key) noexcept;
/// A text; it must stay alive as long as the info.
[[nodiscard]] pmix_info_t text_info(std::string_view key, const std::string& text) noexcept;
/// Bytes, which must stay alive as long as the value.
[[nodiscard]] pmix_value_t bytes_value(std::span<const std::byte> bytes) noexcept;

}  // namespace starling::pmi::pmix
