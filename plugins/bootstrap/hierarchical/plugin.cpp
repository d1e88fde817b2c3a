// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/hierarchical: descriptor and factory. Layer: plugin.

#include "frameworks/plugin.hpp"
#include "plugins/bootstrap/hierarchical/component.hpp"

namespace starling::bootstrap {
namespace {

Result<std::unique_ptr<Component>> create_hierarchical(const Args& args) {
  return std::unique_ptr<Component>(std::make_unique<Hierarchical>(args));
}

}  // namespace

STARLING_PLUGIN(Framework, hierarchical, 20, "addresses over a tree of node roots", STARLING_NO_PARAMS,
                &create_hierarchical);

}  // namespace starling::bootstrap
