// SPDX-License-Identifier: BSD-3-Clause
// Checks and mapping of a node segment's descriptor. What is hard here is to believe nothing about a number
// in the environment: it is checked to be an open memfd of ours with a sealed size before it is mapped.
// Layer: framework.

#include "frameworks/shm/attach.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "frameworks/shm/layout.hpp"
#include "frameworks/shm/nameless.hpp"

namespace starling::shm {

Result<void> check_descriptor(int fd, const SegmentSpec& spec, std::uint64_t links, Owner owner,
                              std::string_view what) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return fail(system_error(std::string(what), "fstat", errno));
  const auto refuse = [&](Errc code, const char* field, std::uint64_t found, std::uint64_t expected,
                          const char* hint) {
    return fail(code, std::string(what),
                std::string(field) + " is " + std::to_string(found) + ", expected " +
                    std::to_string(expected) + hint);
  };
  if (!S_ISREG(facts.st_mode)) return fail(Errc::denied, std::string(what), "is no regular file");
  if (owner == Owner::self && facts.st_uid != ::geteuid()) {
    return refuse(Errc::denied, "its owner", facts.st_uid, ::geteuid(),
                  ": it belongs to somebody else; select shm=memfd");
  }
  if (facts.st_nlink > links) {
    return refuse(Errc::denied, "the number of its names", facts.st_nlink, links,
                  ": somebody made another link to it");
  }
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (size != spec.bytes) {
    return refuse(Errc::bad_input, "its size", size, spec.bytes,
                  ": all processes of a job and its mpiexec must see the same shm_* parameters");
  }
  return {};
}

bool size_is_sealed(int fd) noexcept {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

Result<Segment> map_segment(UniqueFd fd, const SegmentSpec& spec, Deadline deadline) {
  auto mapping = Mapping::map(fd.get(), spec.bytes);
  if (!mapping) return fail(std::move(mapping).error());
  const auto& header = *reinterpret_cast<const Header*>(mapping->data());
  while (header.ready.load(std::memory_order_acquire) != kReady) {
    if (deadline.passed()) {
      return fail(Errc::timed_out, "shared memory",
                  "the process that made the node's segment did not finish it");
    }
    ::sched_yield();
  }
  Segment segment;
  segment.fd = std::move(fd);
  segment.mapping = std::move(mapping).value();
  return segment;
}

Result<Segment> handed_segment(UniqueFd fd, const SegmentSpec& spec, Deadline deadline) {
  const std::string what = "the shared memory that another process handed over";
  auto checked = check_descriptor(fd.get(), spec, 0, Owner::self, what);
  if (!checked) return fail(std::move(checked).error());
  if (!size_is_sealed(fd.get())) return fail(Errc::denied, what, "its size is not sealed");
  auto segment = map_segment(std::move(fd), spec, deadline);
  if (!segment) return segment;
  if (reinterpret_cast<const Header*>(segment->mapping.data())->job_nonce != job_nonce(spec.job)) {
    return fail(Errc::denied, what, "it belongs to another job");
  }
  return segment;
}

Result<int> inherited_descriptor() {
  const char* const text = ::secure_getenv(kInheritedFdVariable);
  if (text == nullptr) return -1;
  int fd = -1;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, fd);
  if (error == std::errc{} && stop == end && fd >= 0) return fd;
  return fail(Errc::bad_input, "create",
              std::string(kInheritedFdVariable) + "='" + text + "' is not a descriptor's number");
}

Result<Segment> inherited_segment(int inherited, const SegmentSpec& spec, Deadline deadline) {
  if (inherited < 0) return fail(Errc::not_found, "shm/memfd", "nothing was inherited from mpiexec");
  // mpiexec made the segment for one job. Another one may find its descriptor: the second program of a shell
  // script between mpiexec and the ranks, or a program that a rank started.
  const char* const job = ::secure_getenv("STARLING_JOB");
  if (job == nullptr || spec.job != job) {
    return fail(Errc::not_found, "shm/memfd",
                "mpiexec made its segment for job " + std::string(job == nullptr ? "(unknown)" : job) +
                    ", this is " + spec.job);
  }
  const std::string what =
      "shm/memfd: descriptor " + std::to_string(inherited) + " of " + kInheritedFdVariable;
  auto checked = check_descriptor(inherited, spec, 0, Owner::anybody, what);
  if (!checked) return fail(std::move(checked).error());
  if (!size_is_sealed(inherited)) {
    return fail(Errc::bad_input, what, "its size is not sealed: it is not the segment that mpiexec made");
  }
  UniqueFd own(::fcntl(inherited, F_DUPFD_CLOEXEC, 3));
  if (!own) return fail(system_error(what, "cannot duplicate it", errno));
  auto segment = map_segment(std::move(own), spec, deadline);
  if (segment) segment->inherited = true;
  return segment;
}

Result<Segment> private_segment(const params::Registry& params, const SegmentSpec& spec) {
  const Geometry geometry = geometry_from(params, spec.local_size);
  auto made = create_memfd("starling", geometry, job_nonce(spec.job));
  if (made) return map_segment(std::move(made).value(), spec, Deadline{});
  // Others are given nothing whose size is not sealed.
  if (spec.local_size > 1) return fail(std::move(made).error());
  auto file = make_nameless("starling");
  if (!file) return fail(std::move(file).error());
  auto done = NodeSegment::initialise(file->fd.get(), geometry, job_nonce(spec.job));
  if (!done) return fail(std::move(done).error());
  return map_segment(std::move(file->fd), spec, Deadline{});
}

}  // namespace starling::shm
