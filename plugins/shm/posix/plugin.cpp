// SPDX-License-Identifier: BSD-3-Clause
// Descriptor and parameters of shm/posix. Layer: plugin.

#include "frameworks/plugin.hpp"
#include "plugins/shm/posix/component.hpp"

namespace starling::shm {

STARLING_PLUGIN_PARAMS std::array kPosixParams = {kPosixDirectory};
STARLING_PLUGIN(Framework, posix, 50, "the node's segment as a file in /dev/shm, for any launcher",
                kPosixParams, &create_posix_component);

}  // namespace starling::shm
