// SPDX-License-Identifier: BSD-3-Clause
// pmi/pmi1 as a plugin. Layer: plugin.

#include <array>

#include "frameworks/plugin.hpp"
#include "params/differences.hpp"
#include "plugins/pmi/pmi1/component.hpp"

namespace starling::pmi {
namespace {

constexpr params::Decl kTimeout =
    params::integer("pmi_pmi1_timeout", "300", 0, 1'000'000,
                    "Seconds until a process manager that does not answer a request is given up; 0 waits for "
                    "ever. Fences have their own "
                    "deadlines.");

Result<std::unique_ptr<Component>> create_pmi1(const Args& args) {
  return Pmi1::make(process_environment(), static_cast<std::uint64_t>(args.params.integer(kTimeout)),
                    args.to_abort ? std::string() : params::list_of(args.params, params::Alike::job));
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kPmi1Params = {kTimeout};
STARLING_PMI_PLUGIN(Framework, pmi1, pmi1, 50, "PMI-1 on the wire: Starling's mpiexec, Hydra, Slurm, Flux",
                    kPmi1Params, &create_pmi1);

}  // namespace starling::pmi
