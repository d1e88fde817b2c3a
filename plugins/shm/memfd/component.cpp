// SPDX-License-Identifier: BSD-3-Clause
// The inherited segment. What is hard here is to believe nothing about a number in the environment: it is
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

Result<Segment> MemfdComponent::attach(const SegmentSpec& spec, Deadline deadline) {
  // mpiexec made the segment for one job. Another one may find its descriptor: the second program of a shell
  // script between mpiexec and the ranks, or a program that a rank started.
  const char* const job = ::secure_getenv("STARLING_JOB");
  if (inherited_ < 0 || job == nullptr || spec.job != job) {
    if (spec.local_size == 1) return private_segment(params_, spec);
    return fail(Errc::unsupported, "shm/memfd",
                "mpiexec made its segment for job " + std::string(job == nullptr ? "(unknown)" : job) +
                    ", this is " + spec.job);
  }
  const std::string what =
      "shm/memfd: descriptor " + std::to_string(inherited_) + " of " + kInheritedFdVariable;
  auto checked = check_descriptor(inherited_, spec, 0, what);
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

Result<std::unique_ptr<Component>> create_memfd_component(const Args& args) {
  const char* const text = ::secure_getenv(kInheritedFdVariable);
  if (text == nullptr) {
    return fail(Errc::unsupported, "create",
                std::string("this process was not started by Starling's mpiexec (") + kInheritedFdVariable +
                    " is not set)");
  }
  int fd = -1;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, fd);
  if (error != std::errc{} || stop != end || fd < 0) {
    return fail(Errc::bad_input, "create",
                std::string(kInheritedFdVariable) + "='" + text + "' is not a descriptor's number");
  }
  return std::unique_ptr<Component>(std::make_unique<MemfdComponent>(args.params, fd));
}

}  // namespace starling::shm
