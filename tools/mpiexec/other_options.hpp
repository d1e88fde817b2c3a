// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Options of Hydra and Open MPI that do nothing here, and why; those that are refused, and what to
/// write instead. Layer: tools.
///
/// The table of docs/user-guide.md is held against this one and against mpiexec's own (options.cpp).

#include <span>
#include <string_view>

#include "tools/options/options.hpp"

namespace starling::mpiexec {

struct OtherOption {
  std::string_view names, values;  ///< as in options::Form
  bool refused = false;
  std::string_view text;  ///< why it has no effect; what to do instead

  [[nodiscard]] options::Form form() const { return {names, values, {}}; }
};

[[nodiscard]] std::span<const OtherOption> other_options() noexcept;

}  // namespace starling::mpiexec
