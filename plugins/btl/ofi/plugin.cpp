// SPDX-License-Identifier: BSD-3-Clause
// Descriptor and parameters of btl/ofi. Layer: plugin.

#include "frameworks/plugin.hpp"
#include "plugins/btl/ofi/component.hpp"
#include "plugins/btl/ofi/params.hpp"

namespace starling::btl {

STARLING_PLUGIN_PARAMS std::array kOfiParams = {kOfiProvider, kOfiInterface, kOfiPeerTimeout, kOfiPortBase,
                                                kOfiNodes,    kOfiGet,       kOfiRemote};
STARLING_NETWORK_PLUGIN(Framework, ofi, 20,
                        "messages between nodes over libfabric (tcp, verbs, efa, cxi ...)", kOfiParams,
                        &create_ofi_component);

}  // namespace starling::btl
