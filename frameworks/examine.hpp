// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Checking a plugin by its records alone. Layer: framework.
///
/// Threads: pure functions of the file.
/// Errors:    a misfit is a refusal text that names file, field, found and expected value; nothing here fails
///            otherwise.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "frameworks/plugin.hpp"
#include "params/decl.hpp"

namespace starling::plugin {

/// One plugin that was found, usable or not.
struct Candidate {
  std::string framework;
  std::string name;
  std::string file;       ///< empty when linked in
  Descriptor descriptor;  ///< as far as it could be read
  std::string refusal;    ///< why it cannot be used (file, field, both values); empty: it can
  std::span<const params::Decl> manifest;  ///< its parameters; empty if refused
  bool hidden = false;                     ///< the refusal is that another one of its name comes first
};

/// A framework of this build.
struct FrameworkInfo {
  std::string_view name;
  std::uint32_t interface_number;
  params::Decl selection;                ///< the parameter of the framework's name
  std::span<const params::Decl> params;  ///< what all its components share
};
[[nodiscard]] std::span<const FrameworkInfo> all_frameworks() noexcept;

struct Examined {
  Candidate candidate;
  std::unique_ptr<const params::Decl[]> read;  ///< holds the manifest of a file; null: that is in constants
};

/// Reads and checks the records of a file `<framework>_<name>.so`; the file name counts where the records
/// cannot be read.
[[nodiscard]] Examined examine_file(const std::string& file);
/// As examine_file(), for a plugin that is linked in.
[[nodiscard]] Examined examine_builtin(const Exported& plugin);

}  // namespace starling::plugin
