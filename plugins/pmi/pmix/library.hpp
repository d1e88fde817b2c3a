// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  libpmix, loaded when the environment offers a PMIx server. Layer: plugin.
///
/// Only functions that libpmix 4.2 has are looked up, and its structs are filled in here, so that one build
/// of the plugin runs with 4.2 and everything newer. Tests put functions of their own into a Library.
///
/// Threads: load() by one thread at a time. Ownership: the library stays until the process ends.

#include <pmix.h>

#include "core/result.hpp"

namespace starling::pmi::pmix {

/// Where its errors come from.
inline constexpr char kPmix[] = "pmi/pmix";

/// The functions of libpmix that are used, under their names without the prefix.
struct Library {
// clang-format would lay the list out anew each time.
// clang-format off
#define STARLING_PMIX_FUNCTIONS(F) \
  F(Init) F(Finalize) F(Abort) F(Put) F(Commit) F(Get) F(Get_nb) F(Fence_nb) F(Publish) \
  F(Lookup) F(Unpublish) F(Resolve_nodes) F(Resolve_peers) F(Register_event_handler) \
  F(Error_string) F(Value_destruct) F(Query_info_nb)
// clang-format on
#define STARLING_PMIX_MEMBER(NAME) decltype(&::PMIx_##NAME) NAME = nullptr;
  STARLING_PMIX_FUNCTIONS(STARLING_PMIX_MEMBER)
#undef STARLING_PMIX_MEMBER
};

/// Loads libpmix.so.2 once and finds its functions. Errors: Errc::unsupported, with the loader's reason.
[[nodiscard]] Result<const Library*> load();

}  // namespace starling::pmi::pmix
