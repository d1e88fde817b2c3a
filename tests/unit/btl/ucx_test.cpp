// SPDX-License-Identifier: BSD-3-Clause
// btl/ucx: the suite for all btls, and what is particular to UCX.

#include "plugins/btl/ucx/component.hpp"
#include "plugins/btl/ucx/params.hpp"
#include "tests/unit/btl/net_conformance.hpp"

namespace starling::test {
namespace {

struct Ucx {
  static constexpr char kOwner[] = "btl/ucx";
  static constexpr char kInterfaceParam[] = "btl_ucx_devices";
  static constexpr params::Decl kDecls[] = {btl::kUcxTls, btl::kUcxDevices};
  static Result<std::unique_ptr<btl::Component>> create(const btl::Args& args) {
    return btl::create_ucx_component(args);
  }
};
using UcxHarness = NetHarness<Ucx>;

INSTANTIATE_TYPED_TEST_SUITE_P(Ucx, BtlConformance, UcxHarness);
INSTANTIATE_TYPED_TEST_SUITE_P(Ucx, NetConformance, UcxHarness);

}  // namespace
}  // namespace starling::test
