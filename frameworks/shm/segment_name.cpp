// SPDX-License-Identifier: BSD-3-Clause
// Names of segments. Layer: framework.

#include "frameworks/shm/segment_name.hpp"

#include <unistd.h>

#include <cstdio>

#include "frameworks/shm/node_segment.hpp"

namespace starling::shm {

std::string segment_name_prefix() { return "starling-" + std::to_string(::geteuid()) + "-"; }

std::string segment_name(std::string_view job, std::uint32_t node) {
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(job_nonce(job)));
  return segment_name_prefix() + hash + "-" + std::to_string(node);
}

}  // namespace starling::shm
