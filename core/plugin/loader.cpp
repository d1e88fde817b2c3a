// SPDX-License-Identifier: BSD-3-Clause
// Layer: core.

#include "core/plugin/loader.hpp"

#include "core/shared_library.hpp"

namespace starling::plugin {

Result<const void*> load_symbol(const std::string& file, const char* symbol) {
  auto library = SharedLibrary::open(file);
  // The caller says which plugin it was.
  if (!library) return fail(Errc::not_found, {}, std::move(library).error().detail);
  auto found = library->symbol(symbol);
  if (!found) return fail(Errc::not_found, {}, std::move(found).error().detail);
  return static_cast<const void*>(*found);
}

}  // namespace starling::plugin
