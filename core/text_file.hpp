// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The text of a small file, as those of /proc are. Layer: core. Threads: any.
///
/// Not by streams of the standard library: these would set up its locales in every process that loads
/// Starling (docs/design/startup.md).

#include <string>

namespace starling {

/// The first 64 KiB of the file, or nothing if it cannot be read.
[[nodiscard]] std::string text_of_file(const std::string& path);

}  // namespace starling
