// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Files that appear whole or not at all, in a directory that several machines see. Layer: plugin.
///
/// A file is written under a name of its own and then given its real one by rename or link, which are atomic
/// on POSIX file systems and NFS alike.
///
/// Threads:   one at a time. Ownership: files stay; whoever made the directory removes it.
/// Errors:    the detail names path and errno's text.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"

namespace starling::pmi {

class SharedDirectory {
 public:
  SharedDirectory() = default;
  /// `writer` makes the temporary names of several processes differ.
  SharedDirectory(std::string path, std::string writer)
      : path_(std::move(path)), writer_(std::move(writer)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Makes the directory; that it exists already is fine.
  [[nodiscard]] Result<void> make() const;
  /// Creates or replaces a file.
  [[nodiscard]] Result<void> write(const std::string& name, std::span<const std::byte> bytes);
  /// Creates a file; Errc::denied if it exists.
  [[nodiscard]] Result<void> create(const std::string& name, std::span<const std::byte> bytes);
  /// Errc::not_found if there is none.
  [[nodiscard]] Result<std::vector<std::byte>> read(const std::string& name) const;
  [[nodiscard]] bool exists(const std::string& name) const noexcept;
  [[nodiscard]] Result<void> remove(const std::string& name) const;

 private:
  [[nodiscard]] std::string full(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] Result<std::string> write_temporary(std::span<const std::byte> bytes);

  std::string path_;
  std::string writer_;
  std::uint64_t written_ = 0;
};

/// A file name for any text: letters, digits and '-' stay, everything else becomes %XX.
[[nodiscard]] std::string file_name_of(std::string_view text);

}  // namespace starling::pmi
