// SPDX-License-Identifier: BSD-3-Clause
// Gives an error in create that begins with the component's own name.

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {
namespace {

Result<std::unique_ptr<Component>> create_refusing(const Args&) {
  return fail(Errc::unsupported, "shm/refusing", "there is no nest here");
}

}  // namespace

STARLING_PLUGIN(Framework, refusing, 5, "refuses", STARLING_NO_PARAMS, &create_refusing);

}  // namespace starling::shm
