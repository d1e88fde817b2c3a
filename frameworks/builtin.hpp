// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The plugins that are linked into libstarling; the list is written by CMake. Layer: framework.

#include <vector>

#include "frameworks/plugin.hpp"

namespace starling::plugin {

[[nodiscard]] std::vector<const Exported*> builtins();

}  // namespace starling::plugin
