// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The environment of one rank. Layer: tools.
///
/// What all ranks share is built once; a rank adds a dozen variables to a copy of the pointers.
/// Threads: one. Ownership: block() points into this object and is valid until the next block().

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mpiexec/options.hpp"

namespace starling::mpiexec {

class RankEnvironment {
 public:
  /// Takes `inherited` (NAME=VALUE) without the variables that another launcher or an outer job set for its
  /// ranks.
  RankEnvironment(char* const* inherited, const Variables& for_all);

  /// The environment with `own` added or replaced; ends with a null pointer, as execve wants it.
  [[nodiscard]] char* const* block(const Variables& of_program, const Variables& own);
  [[nodiscard]] std::string_view value(std::string_view name) const;

 private:
  void set(std::vector<std::string>& into, std::string_view name, std::string_view value) const;

  std::vector<std::string> shared_;
  std::vector<std::string> own_;
  std::vector<char*> pointers_;
};

}  // namespace starling::mpiexec
