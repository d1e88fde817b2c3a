// SPDX-License-Identifier: BSD-3-Clause
// A sound descriptor, but no symbol starling_plugin_entry.

#include "tests/plugin/hostile/null_shm.hpp"

namespace starling::shm {

STARLING_PLUGIN_SECTION(".starling.plugin")
static constexpr plugin::Descriptor kDescriptor = {.bytes = sizeof(plugin::Descriptor),
                                                   .core_interface = plugin::kCoreInterface,
                                                   .framework_interface = Framework::kInterface,
                                                   .priority = 5,
                                                   .framework = Framework::kName,
                                                   .name = "no_entry",
                                                   .version = "0",
                                                   .fingerprint = plugin::kFingerprint,
                                                   .summary = "has no entry symbol"};

}  // namespace starling::shm
