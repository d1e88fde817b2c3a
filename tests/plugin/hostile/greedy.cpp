// SPDX-License-Identifier: BSD-3-Clause
// Declares a parameter that is core's.

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {

STARLING_PLUGIN_PARAMS std::array kGreedyParams = {
    params::text("plugin_path", "/elsewhere", "Not ours to declare.")};
STARLING_PLUGIN(Framework, greedy, 5, "declares what core declares", kGreedyParams, &create_null);

}  // namespace starling::shm
