// SPDX-License-Identifier: BSD-3-Clause
// Needs a library that is not where the dynamic linker looks.

#include "tests/plugin/hostile/null_shm.hpp"

extern "C" int starling_test_absent();

namespace starling::shm {
namespace {

Result<std::unique_ptr<Component>> create_needy(const Args& args) {
  if (starling_test_absent() != 0) return fail(Errc::internal, "create", "the library is not the test's");
  return create_null(args);
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kNeedyParams = {params::boolean("shm_needs_absent_flag", "1", "A switch.")};
STARLING_PLUGIN(Framework, needs_absent, 5, "needs a library that is missing", kNeedyParams, &create_needy);

}  // namespace starling::shm
