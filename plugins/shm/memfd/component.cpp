// SPDX-License-Identifier: BSD-3-Clause
// A segment without a name. Layer: plugin. Design: docs/design/shared-memory.md.

#include "plugins/shm/memfd/component.hpp"

#include "frameworks/shm/attach.hpp"

namespace starling::shm {

Result<Segment> MemfdComponent::find(const SegmentSpec& spec, Deadline deadline) {
  return inherited_segment(inherited_, spec, deadline);
}

Result<Segment> MemfdComponent::attach(const SegmentSpec& spec, Deadline deadline) {
  auto found = find(spec, deadline);
  if (found || found.error().code != Errc::not_found) return found;
  return private_segment(params_, spec);
}

Result<std::unique_ptr<Component>> create_memfd_component(const Args& args) {
  const auto fd = inherited_descriptor();
  if (!fd) return fail(fd.error());
  return std::unique_ptr<Component>(std::make_unique<MemfdComponent>(args.params, *fd));
}

}  // namespace starling::shm
