// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  libfabric, loaded when it is needed. Layer: plugin.
///
/// Loading takes up to 0.2 s (constructors of two PSM libraries sleep), takes signals unless told not to, and
/// cannot be undone. Six functions are looked up; the others are inline calls through tables.
///
/// Threads: load() by one thread at a time. Ownership: the library stays until the process ends.

#include <rdma/fabric.h>

#include <string>

#include "core/result.hpp"

namespace starling::btl::ofi {

struct Library {
#define STARLING_FI_FUNCTIONS(F) F(getinfo) F(freeinfo) F(dupinfo) F(fabric) F(version) F(strerror)
#define STARLING_FI_MEMBER(NAME) decltype(&::fi_##NAME) NAME = nullptr;
  STARLING_FI_FUNCTIONS(STARLING_FI_MEMBER)
#undef STARLING_FI_MEMBER
  /// The interface version that both this build and the library know.
  [[nodiscard]] std::uint32_t api() const noexcept;
  /// "libfabric 1.17".
  [[nodiscard]] std::string name() const;
};

/// Sets what the constructors read (only what the user has not set), loads the library once, and finds its
/// functions. Errors: Errc::unsupported, with the loader's reason.
[[nodiscard]] Result<const Library*> load();

}  // namespace starling::btl::ofi
