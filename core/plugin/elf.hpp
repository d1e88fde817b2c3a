// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Sections of a shared object as bytes, without loading it. Layer: core.
///
/// Loading runs static constructors and fails where a library is missing; reading does neither. ELF64 of this
/// machine's kind only. Files are untrusted: every offset and size is checked against the file's size before
/// use.
///
/// Threads:   value types, any.
/// Ownership: the file is closed when the function returns; sections are copies.
/// Errors:    the detail names field, found and expected value; the caller adds the file.
/// Units:     bytes.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace starling::plugin {

/// The contents of the wanted sections, in the order asked; nothing where the file has no such section.
using Sections = std::vector<std::optional<std::vector<std::byte>>>;

/// Reads the named sections of the shared object at `path`.
[[nodiscard]] Result<Sections> read_sections(const std::string& path,
                                             std::span<const std::string_view> names);

}  // namespace starling::plugin
