// SPDX-License-Identifier: BSD-3-Clause
// pmi/pmi2 as a plugin. Layer: plugin.

#include <array>

#include "frameworks/plugin.hpp"
#include "params/differences.hpp"
#include "plugins/pmi/pmi2/component.hpp"

namespace starling::pmi {
namespace {

constexpr params::Decl kPmi2Timeout = params::integer(
    "pmi_pmi2_timeout", "300", 0, 1'000'000,
    "Seconds until a process manager that does not answer a PMI-2 request is given up; 0 waits "
    "for ever. Fences have their own deadlines.");

/// pmi/pmi1 is asked first, so this component has its turn when the user or the server wants no PMI 1.
std::string why_pmi2(const params::Registry& params) {
  const params::Value* const chosen = params.find(Framework::kName.view());
  if (chosen == nullptr || chosen->written.empty()) return "the server refuses PMI 1";
  return "chosen by pmi=" + chosen->written;
}

Result<std::unique_ptr<Component>> create_pmi2(const Args& args) {
  return Pmi2::make(process_environment(), why_pmi2(args.params),
                    static_cast<std::uint64_t>(args.params.integer(kPmi2Timeout)),
                    args.to_abort ? std::string() : params::list_of(args.params, params::Alike::job));
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kPmi2Params = {kPmi2Timeout};
STARLING_PMI_PLUGIN(Framework, pmi2, pmi2, 45, "PMI-2 on the wire: Slurm's pmi2, Hydra, Starling's mpiexec",
                    kPmi2Params, &create_pmi2);

}  // namespace starling::pmi
