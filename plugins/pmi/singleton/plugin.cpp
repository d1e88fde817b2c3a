// SPDX-License-Identifier: BSD-3-Clause
// pmi/singleton as a plugin. Layer: plugin.

#include <array>

#include "frameworks/plugin.hpp"
#include "plugins/pmi/singleton/component.hpp"

namespace starling::pmi {
namespace {

constexpr params::Decl kAnyway =
    params::boolean("pmi_singleton_anyway", "0",
                    "Run as a job of one process although a launcher's variables say that it started several "
                    "and no PMI works. For programs "
                    "that are meant to be independent of each other.");

Result<std::unique_ptr<Component>> create_singleton(const Args& args) {
  return Singleton::make(process_environment(), args.params.boolean(kAnyway));
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kSingletonParams = {kAnyway};
STARLING_PMI_PLUGIN(Framework, singleton, nobody, 10, "a process started without a launcher: rank 0 of 1",
                    kSingletonParams, &create_singleton);

}  // namespace starling::pmi
