// SPDX-License-Identifier: BSD-3-Clause
// Throws in create.

#include <stdexcept>

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {
namespace {

Result<std::unique_ptr<Component>> create_throwing(const Args&) {
  throw std::runtime_error("out of feathers");
}

}  // namespace

STARLING_PLUGIN(Framework, throwing, 5, "throws", STARLING_NO_PARAMS, &create_throwing);

}  // namespace starling::shm
