// SPDX-License-Identifier: BSD-3-Clause
// btl/ofi: the suite for all btls, and what is particular to libfabric.

#include "plugins/btl/ofi/component.hpp"
#include "plugins/btl/ofi/params.hpp"
#include "tests/unit/btl/net_conformance.hpp"

namespace starling::test {
namespace {

struct Ofi {
  static constexpr char kOwner[] = "btl/ofi";
  static constexpr char kInterfaceParam[] = "btl_ofi_interface";
  static constexpr params::Decl kDecls[] = {btl::kOfiProvider, btl::kOfiInterface, btl::kOfiPeerTimeout};
  static Result<std::unique_ptr<btl::Component>> create(const btl::Args& args) {
    return btl::create_ofi_component(args);
  }
};
using OfiHarness = NetHarness<Ofi>;

INSTANTIATE_TYPED_TEST_SUITE_P(Ofi, BtlConformance, OfiHarness);
INSTANTIATE_TYPED_TEST_SUITE_P(Ofi, NetConformance, OfiHarness);

}  // namespace
}  // namespace starling::test
