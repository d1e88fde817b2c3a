// SPDX-License-Identifier: BSD-3-Clause
// Objects and their segment server. What is hard: an object may be freed while its descriptor is being sent,
// so both happen under one lock, which is never held while anything waits. Layer: framework.
// Design: docs/design/shared-memory.md.

#include "frameworks/shm/memory/owned.hpp"

#include <sys/random.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/service_thread.hpp"
#include "frameworks/shm/mailbox.hpp"
#include "frameworks/shm/memory/object.hpp"
#include "frameworks/shm/memory/table.hpp"

namespace starling::shm {
namespace {

constexpr char kOwned[] = "memory for other processes";

[[nodiscard]] bool fill_randomly(std::span<std::uint64_t> words) noexcept {
  return ::getrandom(words.data(), words.size_bytes(), 0) == static_cast<ssize_t>(words.size_bytes());
}

}  // namespace

std::uint32_t memory_objects_most() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMemoryObjectsMost;  // refused; the kernel will say
  return static_cast<std::uint32_t>(std::min<rlim_t>(limit.rlim_cur / 8, kMemoryObjectsMost));
}

struct OwnedMemory::State {
  State(NodeSegment& of, std::uint32_t at_most) noexcept : segment(of), most(at_most) {}

  NodeSegment& segment;
  std::uint32_t most;
  std::mutex mutex;                                         // of objects, table and next_id
  std::unordered_map<std::uint64_t, MemoryObject> objects;  // by id
  std::atomic<MemoryTable*> table{nullptr};                 // once it is published
  std::uint64_t next_id = 0;
  bool ending = false;
  std::optional<Error> refused;  // why there is no table or thread; not tried again
  MemoryRequest secret;          // its id is not used
  std::optional<Mailbox> box;
  std::thread thread;

  /// Only where there is a table.
  [[nodiscard]] MemoryRanges ranges() const noexcept {
    return MemoryRanges(MappedWords(*table.load(std::memory_order_acquire)));
  }
  [[nodiscard]] bool started() const noexcept { return table.load(std::memory_order_acquire) != nullptr; }
  [[nodiscard]] std::optional<MemoryObject> withdraw(const void* base) noexcept;
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<void> open();
  void give() noexcept;
  void answer(const MemoryRequest& request, std::uint64_t to) noexcept;
};

/// Table, mailbox and thread, at the first object.
Result<void> OwnedMemory::State::start() {
  if (started()) return {};
  if (refused) return fail(*refused);
  auto opened = open();
  if (!opened) refused = opened.error();
  return opened;
}

Result<void> OwnedMemory::State::open() {
  std::array<std::uint64_t, 3> random{};
  if (!fill_randomly(random)) return fail(system_error(kOwned, "getrandom", errno));
  next_id = random[0];
  secret.secret[0] = random[1];
  secret.secret[1] = random[2];
  auto opened = Mailbox::open(true);
  if (!opened) return fail(std::move(opened).error().within(kOwned));
  auto offset = make_memory_table(segment);
  if (!offset) return fail(std::move(offset).error().within(kOwned));
  box.emplace(std::move(*opened));
  auto& made = *reinterpret_cast<MemoryTable*>(segment.at(*offset));
  made.segment_server.store(box->name(), std::memory_order_relaxed);
  made.secret[0].store(secret.secret[0], std::memory_order_relaxed);
  made.secret[1].store(secret.secret[1], std::memory_order_relaxed);
  auto segment_server = start_service_thread("starling-memory", [this] { give(); });
  if (!segment_server) {
    segment.release(*offset, sizeof(MemoryTable));
    return fail(std::move(segment_server).error().within(kOwned));
  }
  thread = std::move(*segment_server);
  table.store(&made, std::memory_order_release);
  publish_memory_table(segment, *offset);
  return {};
}

void OwnedMemory::State::give() noexcept {
  for (;;) {
    MemoryRequest request;
    const auto datagram = box->receive(std::as_writable_bytes(std::span(&request, 1)));
    const std::scoped_lock lock(mutex);
    if (ending) return;
    if (datagram && datagram->bytes == sizeof request && datagram->from != 0) answer(request, datagram->from);
  }
}

void OwnedMemory::State::answer(const MemoryRequest& request, std::uint64_t to) noexcept {
  if (std::memcmp(request.secret, secret.secret, sizeof request.secret) != 0) return;
  const auto found = objects.find(request.id);
  if (found == objects.end()) return;
  const MemoryAnswer answer{request.id};
  // A process that is gone, or reads no datagrams, gets nothing; it copies by other means.
  (void)box->send(to, std::as_bytes(std::span(&answer, 1)), found->second.fd());
}

OwnedMemory::OwnedMemory(NodeSegment& segment, std::uint32_t most)
    : state_(std::make_unique<State>(segment, std::min(most, kMemoryObjectsMost))) {}

OwnedMemory::~OwnedMemory() {
  State& state = *state_;
  if (!state.started()) return;
  {
    const std::scoped_lock lock(state.mutex);
    state.ending = true;
    state.ranges().clear();
    for (auto& [id, object] : state.objects) object.abandon();
  }
  // A full box wakes the thread as well.
  for (int error = ENOBUFS; error != 0 && error != EAGAIN;) error = state.box->send(state.box->name(), {});
  state.thread.join();
}

Result<std::byte*> OwnedMemory::allocate(std::size_t bytes) {
  State& state = *state_;
  const std::scoped_lock lock(state.mutex);
  if (state.objects.size() >= state.most) {
    return fail(Errc::no_space, kOwned,
                "this process has " + std::to_string(state.most) +
                    " objects, which is as many as it may have with its number of descriptors (ulimit -n)");
  }
  auto made = MemoryObject::create(bytes);
  if (!made) return fail(std::move(made).error());
  if (auto started = state.start(); !started) return fail(std::move(started).error());
  std::byte* const base = made->data();
  const std::uint64_t id = state.next_id++;
  const Range range{reinterpret_cast<std::uintptr_t>(base), made->size(), id, made->inode()};
  const auto [entry, added] = state.objects.emplace(id, std::move(*made));
  if (!state.ranges().insert(range)) {
    state.objects.erase(entry);
    return fail(Errc::internal, kOwned, "the table of objects took no further one");
  }
  return base;
}

/// Takes an object out of the table: from here on nobody finds it any more.
std::optional<MemoryObject> OwnedMemory::State::withdraw(const void* base) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  if (!started()) return std::nullopt;
  const Found found = ranges().find(address, 1);
  if (found.look != Look::found || found.range.base != address) return std::nullopt;
  (void)ranges().erase(address);
  const auto object = objects.find(found.range.id);
  std::optional<MemoryObject> taken(std::move(object->second));
  objects.erase(object);
  return taken;
}

bool OwnedMemory::release(const void* base) noexcept {
  const std::scoped_lock lock(state_->mutex);
  // Its addresses are used again only when it has left the table.
  std::optional<MemoryObject> object = state_->withdraw(base);
  if (object) object->give_back();
  return object.has_value();
}

Mapping OwnedMemory::take(const void* base) noexcept {
  const std::scoped_lock lock(state_->mutex);
  std::optional<MemoryObject> object = state_->withdraw(base);
  return object ? std::move(*object).keep_mapping() : Mapping();
}

Found OwnedMemory::find(const void* address) const noexcept {
  return state_->started() ? state_->ranges().find(reinterpret_cast<std::uintptr_t>(address), 1) : Found{};
}

std::size_t OwnedMemory::count() const noexcept {
  const std::scoped_lock lock(state_->mutex);
  return state_->objects.size();
}

}  // namespace starling::shm
