// SPDX-License-Identifier: BSD-3-Clause
// shm/broken: a segment as a file in /dev/shm, with one fault that a parameter chooses. Layer: tests.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "frameworks/plugin.hpp"
#include "frameworks/shm/node_segment.hpp"
#include "frameworks/shm/params.hpp"

namespace starling::shm {
namespace {

enum class Flaw {
  none,
  leaks_name,
  leaks_descriptor,
  leaks_memory,
  dirty,
  apart,
  forgets_job,
  no_place,
  too_short
};
constexpr params::Decl kFault =
    params::choice("shm_broken_fault", "none",
                   "none|leaks_name|leaks_descriptor|leaks_memory|dirty|apart|forgets_job|no_place|too_short",
                   "What this component does wrong.");

class Broken final : public Component {
 public:
  explicit Broken(const Args& args) : flaw_(args.params.choice<Flaw>(kFault)), params_(args.params) {}
  ~Broken() override { all_attached(); }

  Result<Segment> find(const SegmentSpec& spec, Deadline) override {
    UniqueFd fd(::open(path_of(spec).c_str(), O_RDWR | O_CLOEXEC));
    if (!fd) return fail(Errc::not_found, "shm/broken", "nobody has made it");
    return map(std::move(fd), spec);
  }
  Result<Segment> attach(const SegmentSpec& spec, Deadline deadline) override {
    if (flaw_ != Flaw::apart) {
      if (auto found = find(spec, deadline)) return found;
    }
    const std::string path = path_of(spec);
    UniqueFd fd(::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!fd) return fail(system_error("shm/broken", "a file in /dev/shm", errno));
    const Geometry geometry = geometry_from(params_, spec.local_size);
    if (auto made = NodeSegment::initialise(fd.get(), geometry, job_nonce(spec.job)); !made)
      return fail(std::move(made).error());
    if (flaw_ == Flaw::dirty) {
      if (auto dirt = soil(fd, spec, geometry); !dirt) return fail(std::move(dirt).error());
    }
    const std::string from = "/proc/self/fd/" + std::to_string(fd.get());
    if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) made_ = path;
    if (flaw_ == Flaw::leaks_descriptor) (void)!::dup(fd.get());
    return map(std::move(fd), spec);
  }
  bool has_name() const noexcept override { return true; }
  std::string meeting_place() const override {
    return flaw_ == Flaw::no_place ? std::to_string(std::uintptr_t(this)) : "/dev/shm";
  }
  void all_attached() noexcept override {
    if (!made_.empty() && flaw_ != Flaw::leaks_name) ::unlink(made_.c_str());
    made_.clear();
  }

 private:
  std::string path_of(const SegmentSpec& spec) const {
    const std::string job = flaw_ == Flaw::forgets_job ? std::to_string(::getpid()) : spec.job;
    return "/dev/shm/starling-broken-" + job + "-" + std::to_string(spec.node);
  }
  Result<void> soil(const UniqueFd& fd, const SegmentSpec& spec, const Geometry& geometry) const {
    auto mapping = Mapping::map(fd.get(), spec.bytes);
    if (!mapping) return fail(std::move(mapping).error());
    auto opened = NodeSegment::open({UniqueFd(::dup(fd.get())), std::move(*mapping), false}, geometry, 0);
    if (!opened) return fail(std::move(opened).error());
    if (auto reserved = opened->reserve_area(1); !reserved) return reserved;
    opened->area(1)[64] = std::byte{1};
    return {};
  }
  Result<Segment> map(UniqueFd fd, const SegmentSpec& spec) const {
    auto mapping = Mapping::map(fd.get(), flaw_ == Flaw::too_short ? spec.bytes / 2 : spec.bytes);
    if (!mapping) return fail(std::move(mapping).error());
    if (flaw_ == Flaw::leaks_memory) {
      if (auto more = Mapping::map(fd.get(), spec.bytes)) more->abandon();
    }
    return Segment{std::move(fd), std::move(*mapping), false};
  }

  Flaw flaw_;
  const params::Registry& params_;
  std::string made_;
};

Result<std::unique_ptr<Component>> create_broken(const Args& args) {
  return std::unique_ptr<Component>(std::make_unique<Broken>(args));
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kBrokenParams = {kFault};
STARLING_PLUGIN(Framework, broken, 1, "shared memory with a fault, for tests", kBrokenParams, &create_broken);

}  // namespace starling::shm
