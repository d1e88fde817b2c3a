// SPDX-License-Identifier: BSD-3-Clause
// Throws something that is no exception class.

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {
namespace {

Result<std::unique_ptr<Component>> create_throwing(const Args&) { throw 7; }

}  // namespace

STARLING_PLUGIN(Framework, throwing_int, 5, "throws an int", STARLING_NO_PARAMS, &create_throwing);

}  // namespace starling::shm
