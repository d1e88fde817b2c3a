// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/flat: descriptor and factory. Layer: plugin.

#include "frameworks/plugin.hpp"
#include "plugins/bootstrap/flat/component.hpp"

namespace starling::bootstrap {
namespace {

Result<std::unique_ptr<Component>> create_flat(const Args& args) {
  return std::unique_ptr<Component>(std::make_unique<Flat>(args));
}

}  // namespace

STARLING_PLUGIN(Framework, flat, 10, "every process publishes its address; one fence; the reference",
                STARLING_NO_PARAMS, &create_flat);

}  // namespace starling::bootstrap
