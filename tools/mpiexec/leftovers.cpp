// SPDX-License-Identifier: BSD-3-Clause
// Names that killed ranks leave. Layer: tools.

#include "tools/mpiexec/leftovers.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "frameworks/shm/segment_name.hpp"

namespace starling::mpiexec {

std::vector<std::string> segment_paths(const params::Registry& params, const std::string& job,
                                       std::size_t nodes) {
  std::vector<std::string> paths;
  const params::Value* const directory = params.find(shm::kSegmentDirectoryParam);
  if (directory == nullptr) return paths;  // no such plugin here
  for (std::size_t node = 0; node < nodes; ++node) {
    paths.push_back(directory->written + "/" + shm::segment_name(job, static_cast<std::uint32_t>(node)));
  }
  return paths;
}

void remove_segments(const std::vector<std::string>& paths) noexcept {
  for (const std::string& path : paths) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == ::geteuid())
      ::unlink(path.c_str());
  }
}

}  // namespace starling::mpiexec
