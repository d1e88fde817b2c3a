// SPDX-License-Identifier: BSD-3-Clause
// Ends the process as soon as it is loaded.

#include <unistd.h>

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {
namespace {

[[gnu::constructor]] void end_process() { ::_exit(42); }

}  // namespace

STARLING_PLUGIN_PARAMS std::array kExitingParams = {params::boolean("shm_exiting_flag", "0", "A switch.")};
STARLING_PLUGIN(Framework, exiting, 5, "exits when loaded", kExitingParams, &create_null);

}  // namespace starling::shm
