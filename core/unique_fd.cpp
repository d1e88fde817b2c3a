// SPDX-License-Identifier: BSD-3-Clause
// Closing of descriptors. Layer: core.

#include "core/unique_fd.hpp"

#include <unistd.h>

namespace starling {

void UniqueFd::reset() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace starling
