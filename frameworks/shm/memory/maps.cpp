// SPDX-License-Identifier: BSD-3-Clause
// What is hard: never to read an object through the map of another one. A map is found by its object's
// number alone, and that number by the address in the owner's table. Layer: framework.
// Design: docs/design/shared-memory.md.

#include "frameworks/shm/memory/maps.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "core/clock.hpp"
#include "frameworks/shm/memory/object.hpp"
#include "frameworks/shm/memory/table.hpp"

namespace starling::shm {
namespace {

/// The other side's thread only has to be run. Who never answers is a stranger in another network namespace.
constexpr std::uint64_t kAnswerNs = 5'000'000'000;
/// Between two looks of who waits for an answer, which ends the wait at once.
constexpr int kLookMs = 10;
constexpr char kMaps[] = "memory of another process";

Found look_up(NodeSegment& segment, std::uint32_t local_rank, std::uint64_t address,
              std::uint64_t bytes) noexcept {
  MemoryTable* const table = memory_table(segment, local_rank);
  if (table == nullptr) return {};
  return MemoryRanges(MappedWords(*table)).find(address, bytes);
}

}  // namespace

const MemoryMaps::Entry* MemoryMaps::known(std::uint32_t local_rank, std::uint64_t id) const noexcept {
  for (const Entry& entry : entries_) {
    if (entry.range.id == id && entry.local_rank == local_rank) return &entry;
  }
  return nullptr;
}

MemoryMaps::Entry& MemoryMaps::entry_for(std::uint32_t local_rank, const Range& range) {
  if (const Entry* const entry = known(local_rank, range.id)) return const_cast<Entry&>(*entry);
  if (entries_.size() >= most_) {
    const auto oldest =
        std::min_element(entries_.begin(), entries_.end(),
                         [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
    std::swap(*oldest, entries_.back());
    entries_.pop_back();
  }
  Entry& entry = entries_.emplace_back();
  entry.local_rank = local_rank;
  entry.range = range;
  return entry;
}

MemoryMaps::View MemoryMaps::find(std::uint32_t local_rank, std::uint64_t address, std::size_t bytes,
                                  bool insist) noexcept {
  if (most_ == 0) return {};
  try {
    return find_or_throw(local_rank, address, bytes, insist);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

MemoryMaps::View MemoryMaps::find_or_throw(std::uint32_t local_rank, std::uint64_t address, std::size_t bytes,
                                           bool insist) {
  const Found found = look_up(segment_, local_rank, address, bytes);
  if (found.look == Look::changing) return {State::changing};
  if (found.look == Look::none) return {};
  const bool fresh = known(local_rank, found.range.id) == nullptr;
  Entry& entry = entry_for(local_rank, found.range);
  entry.last_use = ++uses_;
  if (entry.state == State::seen && (insist || !fresh)) ask(entry);
  if (entry.state == State::coming) read_answers();
  if (entry.state != State::mapped && entry.deadline_ns != 0 && now_ns() > entry.deadline_ns) {
    refuse(entry, "no answer from its owner");
  }
  if (entry.state != State::mapped) return {entry.state, nullptr, false};
  const std::uint64_t offset = address - found.range.base;
  const bool used = offset + bytes <= entry.used_end;
  entry.used_end = std::max(entry.used_end, offset + bytes);
  return {State::mapped, entry.mapping.data() + offset, used};
}

Result<Mapping> MemoryMaps::fetch(std::uint32_t local_rank, std::uint64_t address, std::size_t bytes) {
  const std::uint64_t end = now_ns() + kAnswerNs;
  for (;;) {
    const View view = find(local_rank, address, bytes, true);
    if (view.state == State::mapped) {
      const auto entry =
          std::max_element(entries_.begin(), entries_.end(),
                           [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
      Mapping mapping = std::move(entry->mapping);
      entries_.erase(entry);
      return mapping;
    }
    if (view.state == State::refused) return fail(Errc::denied, kMaps, why_);
    if (view.state == State::none) return fail(Errc::not_found, kMaps, "its owner has no object there");
    if (now_ns() > end) return fail(Errc::timed_out, kMaps, "its owner has not answered within 5 s");
    pollfd answer{box_ ? box_->fd() : -1, POLLIN, 0};
    (void)::poll(&answer, 1, kLookMs);
  }
}

bool MemoryMaps::possible(std::uint32_t local_rank, std::uint64_t address) const noexcept {
  if (most_ == 0) return false;
  const Found found = look_up(segment_, local_rank, address, 1);
  if (found.look != Look::found) return false;
  const Entry* const entry = known(local_rank, found.range.id);
  return entry == nullptr || entry->state != State::refused;
}

void MemoryMaps::ask(Entry& entry) {
  if (!box_) {
    auto opened = Mailbox::open(false);
    if (!opened) return refuse(entry, opened.error().text());
    box_.emplace(std::move(*opened));
  }
  if (entry.deadline_ns == 0) entry.deadline_ns = now_ns() + kAnswerNs;
  const MemoryTable* const table = memory_table(segment_, entry.local_rank);
  if (table == nullptr) return;
  MemoryRequest request;
  request.secret[0] = table->secret[0].load(std::memory_order_relaxed);
  request.secret[1] = table->secret[1].load(std::memory_order_relaxed);
  request.id = entry.range.id;
  const int error = box_->send(table->segment_server.load(std::memory_order_relaxed),
                               std::as_bytes(std::span(&request, 1)));
  if (error == EAGAIN || error == ENOBUFS || error == ENOMEM) return;  // next time
  if (error != 0) {
    return refuse(entry, std::string("its owner's socket cannot be reached: ") + std::strerror(error));
  }
  entry.state = State::coming;
}

/// Answers may come from anybody: one counts if it was asked for and brings the very object.
void MemoryMaps::read_answers() {
  MemoryAnswer answer;
  while (auto datagram = box_->receive(std::as_writable_bytes(std::span(&answer, 1)))) {
    if (datagram->bytes != sizeof answer || !datagram->descriptor) continue;
    const auto asked = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.state == State::coming && entry.range.id == answer.id;
    });
    if (asked == entries_.end()) continue;
    auto mapping = map_object(datagram->descriptor, asked->range.bytes, asked->range.key, access_);
    if (!mapping) {
      refuse(*asked, mapping.error().text());
      continue;
    }
    asked->mapping = std::move(*mapping);
    asked->state = State::mapped;
  }
}

void MemoryMaps::refuse(Entry& entry, std::string why) {
  entry.state = State::refused;
  why_ = std::move(why);
}

void MemoryMaps::drop(std::uint32_t local_rank) noexcept {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.local_rank == local_rank; });
}

void MemoryMaps::drop_freed() noexcept {
  std::erase_if(entries_, [&](const Entry& entry) {
    const Found found = look_up(segment_, entry.local_rank, entry.range.base, 1);
    return found.look != Look::changing && (found.look == Look::none || found.range.id != entry.range.id);
  });
}

std::size_t MemoryMaps::mapped() const noexcept {
  return static_cast<std::size_t>(std::count_if(
      entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.state == State::mapped; }));
}

}  // namespace starling::shm
