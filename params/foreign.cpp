// SPDX-License-Identifier: BSD-3-Clause
// Names of other MPI libraries. Layer: params.

#include "params/foreign.hpp"

#include <array>

namespace starling::params {
namespace {

struct Name {
  std::string_view begin;  ///< of the name; the whole one if `whole`
  std::string_view use;
  bool whole = false;
};

constexpr std::string_view kInterfaces = "btl_ucx_devices or btl_ofi_interface";
constexpr std::string_view kUcxVariables = "btl_ucx_tls, btl_ucx_devices, or UCX's own variables (UCX_...)";

/// The first that fits counts.
constexpr std::array kParameters = {
    Name{"btl_tcp_if_", kInterfaces},
    Name{"oob_tcp_if_", kInterfaces},
    Name{"btl_vader_eager_limit", "pml_eager_limit", true},
    Name{"btl_sm_eager_limit", "pml_eager_limit", true},
    Name{"pml_ob1_", "the parameters pml_..., such as pml_eager_limit"},
    Name{"btl_vader_single_copy_mechanism", "shm_cma", true},
    Name{"btl_sm_single_copy_mechanism", "shm_cma", true},
    Name{"btl_vader_", "the parameters shm_..."},
    Name{"btl_sm_", "the parameters shm_..."},
    Name{"btl_openib_", kUcxVariables},
    Name{"pml_ucx_tls", "btl_ucx_tls", true},
    Name{"pml_ucx_devices", "btl_ucx_devices", true},
    Name{"opal_common_ucx_tls", "btl_ucx_tls", true},
    Name{"opal_common_ucx_devices", "btl_ucx_devices", true},
    Name{"mtl_ofi_", "btl_ofi_provider and the other parameters btl_ofi_..."},
    Name{"coll_tuned_", "coll_rules, or a parameter coll_<name>_algorithm"},
    Name{"coll_hcoll_", "coll_rules, or a parameter coll_<name>_algorithm"},
    Name{"mpi_yield_when_idle", "wait_spin_us and wait_yield_us", true},
    Name{"rmaps_base_", "mpiexec's options --map-by and --rank-by"},
    Name{"hwloc_base_", "mpiexec's option --bind-to"},
    Name{"orte_", "mpiexec's options (mpiexec --help)"},
    Name{"prte_", "mpiexec's options (mpiexec --help)"},
    Name{"plm_", "mpiexec's options (mpiexec --help)"},
};

struct Component {
  std::string_view framework, name, use;
};
constexpr std::array kComponents = {
    Component{"btl", "vader", "'shm'"},
    Component{"btl", "sm", "'shm'"},
    Component{"btl", "tcp", "'ucx' or 'ofi', which go over TCP where there is no faster network"},
    Component{"btl", "openib", "'ucx'"},
    Component{"btl", "uct", "'ucx'"},
    Component{"pml", "ob1", "'static' or 'dynamic'; transports are chosen by btl"},
    Component{"pml", "cm", "'static' or 'dynamic', with btl=self,shm,ofi"},
    Component{"pml", "ucx", "'static' or 'dynamic', with btl=self,shm,ucx"},
};

}  // namespace

std::string_view instead_of_parameter(std::string_view name) noexcept {
  for (const Name& known : kParameters) {
    if (known.whole ? name == known.begin : name.starts_with(known.begin)) return known.use;
  }
  return {};
}

std::string_view instead_of_component(std::string_view framework, std::string_view name) noexcept {
  for (const Component& known : kComponents) {
    if (framework == known.framework && name == known.name) return known.use;
  }
  return {};
}

}  // namespace starling::params
