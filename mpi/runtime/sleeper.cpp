// SPDX-License-Identifier: BSD-3-Clause
// Sleeping and waking. What is hard: flag, bell and transports are shared by all threads of this process, so
// only the last one to wake may take back what sleeping has asked for. Layer: mpi. docs/design/waiting.md

#include "mpi/runtime/sleeper.hpp"

#include <time.h>

#include "core/log.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/place.hpp"
#include "mpi/runtime/progress_thread.hpp"

namespace starling::mpi {

void Sleeper::ring() noexcept { place_.segment().ring(place_.local_rank()); }

void Sleeper::follow() {
  if (hears_transports()) open_bell();
  thread_.disarm();  // there may be more to listen to
}

void Sleeper::leave_segment() noexcept {
  wake();
  thread_.disarm();
}

void Sleeper::enter_fence(bool lasts) {
  if (lasts) open_bell();
  ++fences_;
}

void Sleeper::open_bell() {
  if (place_.segment().bell_fd() >= 0) return;
  if (auto opened = place_.segment().open_bell(); !opened) {
    log::info("waiting looks at shared memory every millisecond: " + opened.error().text());
  }
}

std::uint32_t Sleeper::arm(std::uint32_t awaited) noexcept { return place_.segment().prepare_sleep(awaited); }

bool Sleeper::begin() noexcept {
  bool quiet = true;
  for (btl::Component* transport : transports_) quiet = transport->begin_sleep() && quiet;
  return quiet;
}

void Sleeper::end() noexcept {
  if (sleepers_ != 0) return;
  thread_.disarm();
  shm::NodeSegment& segment = place_.segment();
  segment.cancel_sleep();
  if (segment.bell_fd() < 0) return;
  segment.silence_bell();
  for (btl::Component* transport : transports_) transport->end_sleep();
}

Sleeper::WakeUps Sleeper::wake_ups(int other) const {
  WakeUps all;
  all.segment = &place_.segment();
  if (transports_.empty() && fences_ == 0) return all;
  const auto add = [&](int fd) {
    if (fd >= 0 && all.count < all.descriptors.size()) all.descriptors[all.count++] = {fd, POLLIN, 0};
  };
  add(all.segment->bell_fd());
  add(other);
  for (const btl::Component* transport : transports_) add(transport->wait_fd());
  all.blind = all.segment->bell_fd() < 0;
  return all;
}

bool Sleeper::sleep(WakeUps& wake_ups, std::uint32_t doorbell, std::uint64_t limit_ns) {
  constexpr std::uint64_t kBlindLimitNs = 1'000'000;  // no bell: shared memory is not seen while asleep
  if (wake_ups.count == 0) return wake_ups.segment->sleep(doorbell, limit_ns);
  if (wake_ups.blind && limit_ns > kBlindLimitNs) limit_ns = kBlindLimitNs;
  const timespec limit{static_cast<time_t>(limit_ns / 1'000'000'000),
                       static_cast<long>(limit_ns % 1'000'000'000)};
  return ::ppoll(wake_ups.descriptors.data(), wake_ups.count, &limit, nullptr) == 0 && !wake_ups.blind;
}

bool Sleeper::sleep_unlocked(std::uint32_t doorbell, std::uint64_t limit_ns, int other) {
  ++sleepers_;
  ++to_wake_;
  WakeUps all = wake_ups(other);
  const auto depth = registry().lock.release_all();
  const bool to_limit = sleep(all, doorbell, limit_ns);
  registry().lock.reacquire(depth);
  --sleepers_;
  --to_wake_;
  return to_limit;
}

}  // namespace starling::mpi
