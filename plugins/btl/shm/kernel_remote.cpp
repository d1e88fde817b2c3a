// SPDX-License-Identifier: BSD-3-Clause
// process_vm_writev and process_vm_readv as puts and gets. Layer: plugin.

#include "plugins/btl/shm/kernel_remote.hpp"

#include <cstring>
#include <string>

#include "frameworks/btl/plain_region.hpp"
#include "plugins/btl/shm/cma.hpp"
#include "plugins/btl/shm/shared.hpp"

namespace starling::btl {

const Remote::Facts& KernelRemote::facts() const noexcept {
  static constexpr Facts kFacts{
      .access_max_bytes = SIZE_MAX, .passive = true, .ordered = true, .with_processors = false};
  return kFacts;
}

Result<std::unique_ptr<Region>> KernelRemote::open(std::span<const std::byte> key) {
  return PlainRegion::open(key, "btl/shm");
}

Post KernelRemote::ended(int error, const char* call, Completion* completion) noexcept {
  ++shared_.counters.remote;
  if (error == 0) return Post::done;
  shared_.note(std::string(call) + " of exposed memory failed: " + std::strerror(error));
  completion->done(completion, false);
  return Post::posted;
}

Post KernelRemote::put(Region& to, std::uint64_t offset, std::span<const std::byte> from,
                       Completion* completion) noexcept {
  const std::uint64_t address = plain_address(to, offset, from.size());
  return ended(write_process(shared_.pid_of(local_rank_), address, from), "process_vm_writev", completion);
}

Post KernelRemote::get(Region& from, std::uint64_t offset, std::span<std::byte> to,
                       Completion* completion) noexcept {
  const std::uint64_t address = plain_address(from, offset, to.size());
  return ended(read_process(shared_.pid_of(local_rank_), address, to), "process_vm_readv", completion);
}

Post KernelRemote::atomic(Region&, std::uint64_t, const AtomicChange&, Completion*) noexcept {
  expects(false, "btl/shm has no Capability::atomics");
  return Post::again;
}

}  // namespace starling::btl
