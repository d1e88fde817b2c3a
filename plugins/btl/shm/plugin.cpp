// SPDX-License-Identifier: BSD-3-Clause
// Descriptor and parameters of btl/shm. Layer: plugin.

#include "frameworks/plugin.hpp"
#include "plugins/btl/shm/component.hpp"

namespace starling::btl {

STARLING_PLUGIN_PARAMS std::array kShmParams = kShmDecls;
STARLING_PLUGIN(Framework, shm, 50, "messages through shared memory between the processes of one node",
                kShmParams, &create_shm_component);

}  // namespace starling::btl
