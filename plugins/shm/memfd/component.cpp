// SPDX-License-Identifier: BSD-3-Clause
// A segment without a name. What is hard here is to believe nothing about a number in the environment: it is
// checked to be an open memfd of ours with a sealed size before it is mapped. Layer: plugin. Design:
// docs/design/shared-memory.md.

#include "plugins/shm/memfd/component.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "frameworks/shm/attach.hpp"

namespace starling::shm {

Result<Segment> MemfdComponent::find(const SegmentSpec& spec, Deadline deadline) {
  if (inherited_ < 0) return fail(Errc::not_found, "shm/memfd", "nothing was inherited from mpiexec");
  // mpiexec made the segment for one job. Another one may find its descriptor: the second program of a shell
  // script between mpiexec and the ranks, or a program that a rank started.
  const char* const job = ::secure_getenv("STARLING_JOB");
  if (job == nullptr || spec.job != job) {
    return fail(Errc::not_found, "shm/memfd",
                "mpiexec made its segment for job " + std::string(job == nullptr ? "(unknown)" : job) +
                    ", this is " + spec.job);
  }
  const std::string what =
      "shm/memfd: descriptor " + std::to_string(inherited_) + " of " + kInheritedFdVariable;
  auto checked = check_descriptor(inherited_, spec, 0, Owner::anybody, what);
  if (!checked) return fail(std::move(checked).error());
  if (!size_is_sealed(inherited_)) {
    return fail(Errc::bad_input, what, "its size is not sealed: it is not the segment that mpiexec made");
  }
  UniqueFd own(::fcntl(inherited_, F_DUPFD_CLOEXEC, 3));
  if (!own) return fail(system_error(what, "cannot duplicate it", errno));
  auto segment = map_segment(std::move(own), spec, deadline);
  if (segment) segment->inherited = true;
  return segment;
}

Result<Segment> MemfdComponent::attach(const SegmentSpec& spec, Deadline deadline) {
  auto found = find(spec, deadline);
  if (found || found.error().code != Errc::not_found) return found;
  return private_segment(params_, spec);
}

Result<std::unique_ptr<Component>> create_memfd_component(const Args& args) {
  int fd = -1;
  if (const char* const text = ::secure_getenv(kInheritedFdVariable); text != nullptr) {
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, fd);
    if (error != std::errc{} || stop != end || fd < 0) {
      return fail(Errc::bad_input, "create",
                  std::string(kInheritedFdVariable) + "='" + text + "' is not a descriptor's number");
    }
  }
  return std::unique_ptr<Component>(std::make_unique<MemfdComponent>(args.params, fd));
}

}  // namespace starling::shm
