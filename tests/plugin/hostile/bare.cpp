// SPDX-License-Identifier: BSD-3-Clause
// A plugin without parameters.

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {

STARLING_PLUGIN(Framework, bare, 20, "a plugin without parameters", STARLING_NO_PARAMS, &create_null);

}  // namespace starling::shm
