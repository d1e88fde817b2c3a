// SPDX-License-Identifier: BSD-3-Clause
// Never returns from being loaded.

#include <unistd.h>

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {
namespace {

[[gnu::constructor]] void wait_for_ever() {
  for (;;) ::pause();
}

}  // namespace

STARLING_PLUGIN(Framework, blocking, 5, "blocks when loaded", STARLING_NO_PARAMS, &create_null);

}  // namespace starling::shm
