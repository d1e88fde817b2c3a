// SPDX-License-Identifier: BSD-3-Clause
// pmi/pmix as a plugin. Layer: plugin.

#include <unistd.h>

#include "frameworks/plugin.hpp"
#include "plugins/pmi/pmix/component.hpp"

namespace starling::pmi::pmix {
namespace {

Result<std::unique_ptr<Component>> create_pmix(const Args&) {
  const Getenv get = process_environment();
  if (!offers_pmix(get)) {
    return fail(Errc::unsupported, kPmix,
                "PMIX_NAMESPACE, PMIX_RANK and PMIX_SERVER_URI are not all set: no PMIx launcher started "
                "this process");
  }
  // A rank that called exec() can connect again: no descriptor was lost.
  if (const Kinship kin = kinship(get, ::getpid(), Manager::pmix); kin == Kinship::child) {
    return fail(Errc::unsupported, kPmix, why_not_served(kin));
  }
  auto library = load();
  if (!library) return fail(std::move(library).error());
  return Pmix::make(**library, get);
}

}  // namespace

STARLING_PMI_PLUGIN(Framework, pmix, pmix, 40, "PMIx through libpmix: Open MPI's mpirun, Slurm, PRRTE",
                    STARLING_NO_PARAMS, &create_pmix);

}  // namespace starling::pmi::pmix
