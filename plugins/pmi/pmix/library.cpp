// SPDX-License-Identifier: BSD-3-Clause
// Loading libpmix. Layer: plugin.

#include "plugins/pmi/pmix/library.hpp"

#include <utility>

#include "core/shared_library.hpp"

namespace starling::pmi::pmix {
namespace {

Result<Library> open_library() {
  auto opened = SharedLibrary::open("libpmix.so.2");
  if (!opened) return fail(std::move(opened).error());
  Library library;
#define STARLING_PMIX_FIND(NAME) opened->find("PMIx_" #NAME, library.NAME);
  STARLING_PMIX_FUNCTIONS(STARLING_PMIX_FIND)
#undef STARLING_PMIX_FIND
  if (auto complete = opened->complete(); !complete) return fail(std::move(complete).error());
  return library;
}

}  // namespace

Result<const Library*> load() {
  static const Result<Library> library = open_library();
  if (!library) return fail(Error(library.error()));
  return &*library;
}

}  // namespace starling::pmi::pmix
