// SPDX-License-Identifier: BSD-3-Clause
// Crashes as soon as it is loaded.

#include <csignal>

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {
namespace {

[[gnu::constructor]] void crash() { ::raise(SIGSEGV); }

}  // namespace

STARLING_PLUGIN(Framework, crashing, 5, "crashes when loaded", STARLING_NO_PARAMS, &create_null);

}  // namespace starling::shm
