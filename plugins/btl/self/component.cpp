// SPDX-License-Identifier: BSD-3-Clause
// A ring of records {length, bytes} in private memory. Layer: plugin.

#include "plugins/btl/self/component.hpp"

#include <cstring>
#include <new>
#include <string>

#include "core/worlds.hpp"
#include "frameworks/btl/plain_region.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::btl {
namespace {

constexpr std::size_t kSelfMaxBytes = 64 * 1024;
constexpr std::size_t kRingBytes = 512 * 1024;
constexpr std::size_t kUnit = 16;                   // records begin at multiples of this
constexpr std::uint64_t kSkip = ~std::uint64_t{0};  // a length that says: go on at the ring's start

constexpr std::size_t record_bytes(std::size_t payload) noexcept {
  return (sizeof(std::uint64_t) + payload + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

SelfComponent::SelfComponent(const Args& args)
    : sink_(args.sink), segment_(args.segment), local_rank_(args.place.local_rank), self_(args.place.self) {
  limits_ = {.message_max_bytes = kSelfMaxBytes,
             .eager_bytes = 16 * 1024,
             .fragment_bytes = kSelfMaxBytes,
             .can = {Capability::get, Capability::put, Capability::atomics},
             .reach = Reach::own_process,
             .idle_passes = 0};
  origin_.proc = self_;
}

Result<void> SelfComponent::reaches(ProcId peer) const {
  if (peer == self_) return {};
  return fail(Errc::unsupported, "btl/self", text_of(peer) + " is another process");
}

Result<Endpoint*> SelfComponent::connect(ProcId peer, std::span<const std::byte>) {
  auto reached = reaches(peer);
  if (!reached) return fail(std::move(reached).error());
  if (ring_ == nullptr) {
    ring_ = std::make_unique<std::byte[]>(kRingBytes);
    counters_.endpoints = 1;
  }
  return static_cast<Endpoint*>(this);
}

Post SelfComponent::send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept {
  std::byte* const to = reserve(header.size() + payload.size());
  if (to == nullptr) return Post::again;
  if (!header.empty()) std::memcpy(to, header.data(), header.size());
  if (!payload.empty()) std::memcpy(to + header.size(), payload.data(), payload.size());
  commit(header.size() + payload.size());
  return Post::done;
}

std::byte* SelfComponent::reserve(std::size_t bytes) noexcept {
  const std::size_t needed = record_bytes(bytes);
  const std::size_t to_end = kRingBytes - write_;
  skip_ = needed > to_end ? to_end : 0;
  if (bytes > kSelfMaxBytes || used_ + skip_ + needed > kRingBytes) {
    ++counters_.full;
    return nullptr;
  }
  return ring_.get() + (skip_ == 0 ? write_ : 0) + sizeof(std::uint64_t);
}

void SelfComponent::commit(std::size_t bytes) noexcept {
  if (skip_ != 0) {
    std::memcpy(ring_.get() + write_, &kSkip, sizeof(kSkip));
    used_ += skip_;
    write_ = 0;
    skip_ = 0;
  }
  const std::uint64_t length = bytes;
  std::memcpy(ring_.get() + write_, &length, sizeof(length));
  used_ += record_bytes(bytes);
  write_ = (write_ + record_bytes(bytes)) % kRingBytes;
  ++counters_.messages_sent;
  counters_.bytes_sent += bytes;
  // The message is for another thread, perhaps, which sleeps: the lock that all of them hold here orders this
  // look and its announcement.
  if (segment_ == nullptr) return;
  const std::uint32_t attention = segment_->slot(local_rank_).attention.load(std::memory_order_relaxed);
  if ((attention & shm::kAsleep) != 0) [[unlikely]]
    segment_->wake(local_rank_);
}

Result<std::unique_ptr<Exposed>> SelfComponent::expose(std::span<std::byte> memory) {
  return std::unique_ptr<Exposed>(std::make_unique<PlainExposed>(memory));
}

int SelfComponent::progress() noexcept {
  constexpr int kBurst = 32;
  int events = 0;
  while (used_ != 0 && events < kBurst) {
    std::uint64_t length = 0;
    std::memcpy(&length, ring_.get() + read_, sizeof(length));
    if (length == kSkip) {
      used_ -= kRingBytes - read_;
      read_ = 0;
      continue;
    }
    ++counters_.messages_received;
    counters_.bytes_received += length;
    sink_.on_message(origin_, {ring_.get() + read_ + sizeof(length), static_cast<std::size_t>(length)});
    read_ = (read_ + record_bytes(length)) % kRingBytes;
    used_ -= record_bytes(length);
    ++events;
  }
  return events;
}

Post SelfComponent::get(const RemoteBuffer& from, std::span<std::byte> to, Completion*) noexcept {
  ++counters_.gets;
  // A program may send from a buffer to itself; what overlaps is the user's error, but must not be ours.
  if (!to.empty()) std::memmove(to.data(), reinterpret_cast<const std::byte*>(from.address), to.size());
  return Post::done;
}

Result<std::unique_ptr<Component>> create_self_component(const Args& args) {
  return std::unique_ptr<Component>(std::make_unique<SelfComponent>(args));
}

}  // namespace starling::btl
