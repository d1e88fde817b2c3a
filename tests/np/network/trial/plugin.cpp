// SPDX-License-Identifier: BSD-3-Clause
// btl/trial: descriptor and factory. Layer: tests.

#include "frameworks/plugin.hpp"
#include "tests/np/network/trial/component.hpp"
#include "tests/np/network/trial/params.hpp"

namespace starling::btl {

STARLING_PLUGIN_PARAMS std::array kTrialParams = trial::kAll;
STARLING_NETWORK_PLUGIN(Framework, TRIAL, 10, "sockets of this machine, for tests", kTrialParams,
                        &trial::Trial::make);

}  // namespace starling::btl
