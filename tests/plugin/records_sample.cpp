// SPDX-License-Identifier: BSD-3-Clause
// Compiled with several compilers and options by records_test.py.

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {

#if defined(SAMPLE_WITHOUT_PARAMS)
STARLING_PLUGIN(Framework, sample, 10, "a sample", STARLING_NO_PARAMS, &create_null);
#else
inline constexpr params::Decl kWidth = params::integer("shm_sample_width", "3", 1, 9, "A number.");
STARLING_PLUGIN_PARAMS std::array kSampleParams = {kWidth,
                                                   params::boolean("shm_sample_fast", "0", "A switch.")};
STARLING_PLUGIN(Framework, sample, 10, "a sample", kSampleParams, &create_null);
#endif

}  // namespace starling::shm
