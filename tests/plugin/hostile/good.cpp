// SPDX-License-Identifier: BSD-3-Clause
// A plugin without fault; the test makes damaged copies of its file.

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {

inline constexpr params::Decl kWidth =
    params::integer("shm_good_width", "3", 1, 9, "A number.", "shm_good_breadth");
STARLING_PLUGIN_PARAMS std::array kGoodParams = {kWidth, params::boolean("shm_good_fast", "0", "A switch.")};
STARLING_PLUGIN(Framework, good, 10, "a plugin without fault", kGoodParams, &create_null);

}  // namespace starling::shm
