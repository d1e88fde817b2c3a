// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A file in memory that has no name. Layer: framework.
///
/// It is a memfd. Where the kernel refuses to make one (a seccomp filter, vm.memfd_noexec) it is a file
/// without a name in /dev/shm, of mode 0600: its size cannot be sealed, so only processes of the same user
/// take it; and that file system may be small, so pages have to be reserved before they are touched.
///
/// Threads:   any.
/// Ownership: the caller's.
/// Errors:    system or no_space, with what was tried. Units: none.

#include "core/result.hpp"
#include "core/unique_fd.hpp"

namespace starling::shm {

struct NamelessFile {
  UniqueFd fd;
  bool sealable = true;  ///< a memfd; its pages need not be reserved
};

/// Empty. `name`: what /proc shows for a memfd.
[[nodiscard]] Result<NamelessFile> make_nameless(const char* name);

/// Whether that descriptor is such a file of this user's that cannot be sealed: nobody else can open it.
[[nodiscard]] bool is_own_nameless(int fd) noexcept;

}  // namespace starling::shm
