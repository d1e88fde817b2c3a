// SPDX-License-Identifier: BSD-3-Clause
// Descriptor of shm/memfd. Layer: plugin.

#include "frameworks/plugin.hpp"
#include "plugins/shm/memfd/component.hpp"

namespace starling::shm {

STARLING_PLUGIN(Framework, memfd, 60, "the node's segment as a descriptor, from mpiexec or another process",
                STARLING_NO_PARAMS, &create_memfd_component);

}  // namespace starling::shm
