// SPDX-License-Identifier: BSD-3-Clause
// Descriptor and parameters of btl/ucx. Layer: plugin.

#include "frameworks/plugin.hpp"
#include "plugins/btl/ucx/component.hpp"
#include "plugins/btl/ucx/params.hpp"

namespace starling::btl {

STARLING_PLUGIN_PARAMS std::array kUcxParams = {kUcxTls, kUcxDevices, kUcxConnections, kUcxPeerTimeout,
                                                kUcxGet, kUcxRemote,  kUcxKeep};
STARLING_NETWORK_PLUGIN(Framework, ucx, 30, "messages between nodes over UCX (tcp, InfiniBand, RoCE)",
                        kUcxParams, &create_ucx_component);

}  // namespace starling::btl
