// SPDX-License-Identifier: BSD-3-Clause
// Version, compiler and places. Layer: tools.

#include "frameworks/plugin.hpp"
#include "tools/starling-info/sections.hpp"

namespace starling::info {

void print_build(const Context& context, Printer& printer) {
  printer.title("Starling " STARLING_VERSION);
  printer.line(1, std::string("build: ") + STARLING_BUILD_TYPE ", " STARLING_COMPILER
                                                               ", plugins " STARLING_PLUGINS_ARE);
  printer.line(1, "plugin fingerprint: " + std::string(plugin::kFingerprint.view()) + ", core interface " +
                      std::to_string(plugin::kCoreInterface));
  printer.line(1, "prefix: " + context.prefix);
  printer.line(1, "library: " + context.library);
  printer.fact("version", STARLING_VERSION);
  printer.fact("build.type", STARLING_BUILD_TYPE);
  printer.fact("build.compiler", STARLING_COMPILER);
  printer.fact("build.plugins", STARLING_PLUGINS_ARE);
  printer.fact("build.fingerprint", plugin::kFingerprint.view());
  printer.fact("build.core_interface", std::int64_t{plugin::kCoreInterface});
  printer.fact("prefix", context.prefix);
  printer.fact("library", context.library);
}

}  // namespace starling::info
