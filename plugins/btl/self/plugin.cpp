// SPDX-License-Identifier: BSD-3-Clause
// Descriptor of btl/self. Layer: plugin.

#include "frameworks/plugin.hpp"
#include "plugins/btl/self/component.hpp"

namespace starling::btl {

STARLING_OWN_PLUGIN(Framework, self, 100, "messages of a process to itself", STARLING_NO_PARAMS,
                    &create_self_component);

}  // namespace starling::btl
