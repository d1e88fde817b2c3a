// SPDX-License-Identifier: BSD-3-Clause
// Succeeds with no component.

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {
namespace {

Result<std::unique_ptr<Component>> create_nothing(const Args&) { return std::unique_ptr<Component>{}; }

}  // namespace

STARLING_PLUGIN(Framework, nothing, 5, "gives a null pointer", STARLING_NO_PARAMS, &create_nothing);

}  // namespace starling::shm
