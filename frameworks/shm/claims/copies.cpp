// SPDX-License-Identifier: BSD-3-Clause
// What is hard: a chunk may only be done again when nobody writes to it any more, and a slot is used again
// only when all chunks are done, also by those who were slow. Layer: framework.
// Design: docs/design/dynamic.md.

#include "frameworks/shm/claims/copies.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "core/clock.hpp"
#include "core/unique_fd.hpp"
#include "frameworks/shm/memory/table.hpp"

namespace starling::shm {
namespace {

constexpr std::uint64_t kChunkLeast = 16 * 1024, kChunkLargest = 1024 * 1024;
constexpr std::uint64_t kForOthersLeast = 64 * 1024;  // shorter ones are over before anybody has looked
constexpr std::uint64_t kIdleNs = 2000;               // of empty passes before a process is called idle
constexpr std::uint64_t kIdleIsOldNs = 20'000;        // then it computes, though its bit still stands
constexpr std::uint32_t kPassesPerClock = 8;
constexpr std::uint64_t kDeadLookNs = 1'000'000;

std::uint64_t bit_of(std::uint32_t local_rank) noexcept { return std::uint64_t{1} << local_rank % 64; }

void copy_chunk(const CopyTask& task, std::uint32_t chunk, const std::byte* from, std::byte* to) noexcept {
  const std::uint64_t offset = std::uint64_t{chunk} * task.chunk_bytes;
  std::memcpy(to + offset, from + offset,
              static_cast<std::size_t>(std::min<std::uint64_t>(task.chunk_bytes, task.bytes - offset)));
}

bool near(Distance distance) noexcept { return distance == Distance::cache || distance == Distance::memory; }

/// Whether all threads of a process have ended: its parent may not have asked for it yet, and then it still
/// has its pid.
bool process_ended(std::uint32_t pid) noexcept {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return errno == ESRCH;
  pollfd end{process.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) == 1;
}

}  // namespace

SharedCopies::SharedCopies(NodeSegment& segment, const Place& place) noexcept
    // A copy by others needs two maps at once.
    : segment_(segment),
      place_(place),
      maps_(segment, place.maps_most < 2 ? 0 : place.maps_most, Access::read_write) {}

SharedCopies::~SharedCopies() {
  if (!board_) return;
  asleep();
  for (std::uint32_t index = 0; index < kSlotsEach; ++index) {
    if (!own_[index].used) continue;
    board_->claim(own_slot(index)).close();
    own_[index].used = false;
  }
  offer_to_others();
}

bool SharedCopies::have_board(bool make) noexcept {
  if (board_) return true;
  board_ = Board::find(segment_);
  if (!board_ && make && !refused_) make_board();
  if (!board_) return false;
  // An earlier program of this rank may have died in a copy, and been bound elsewhere.
  BoardProcess& own = board_->process(segment_.local_rank());
  own.work.store(kNoWork, std::memory_order_release);
  own.domain.store(0, std::memory_order_relaxed);
  return true;
}

void SharedCopies::make_board() noexcept {
  try {
    auto made = Board::make(segment_);
    if (made) {
      board_ = *made;
    } else {
      refused_ = made.error().text();
    }
  } catch (const std::bad_alloc&) {  // perhaps next time
  }
}

std::uint64_t SharedCopies::own_domain() noexcept {
  auto& told = board_->process(segment_.local_rank()).domain;
  std::uint64_t own = told.load(std::memory_order_relaxed);
  if (own == 0) {
    const auto found = place_.domain != nullptr ? place_.domain() : std::array<std::int32_t, 2>{-1, -1};
    own = packed({found[0], found[1]});
    told.store(own, std::memory_order_relaxed);
  }
  return own;
}

Distance SharedCopies::distance(std::uint32_t local_rank) noexcept {
  if (segment_.local_size() <= 2 || !have_board(true)) return Distance::unknown;
  return distance_of(own_domain(), board_->process(local_rank).domain.load(std::memory_order_relaxed));
}

MemoryMaps::View SharedCopies::view(std::uint32_t rank, std::uint64_t address, std::uint64_t bytes) noexcept {
  if (rank == segment_.local_rank())
    return {MemoryMaps::State::mapped, reinterpret_cast<std::byte*>(address), true};
  if (rank >= segment_.local_size()) return {};
  return maps_.find(rank, address, bytes, true);
}

bool SharedCopies::possible(std::uint32_t sender, std::uint64_t from, const void* to) noexcept {
  MemoryTable* const own = memory_table(segment_, segment_.local_rank());
  if (own == nullptr || refused_) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  return MemoryRanges(MappedWords(*own)).find(address, 1).look == Look::found && maps_.possible(sender, from);
}

bool SharedCopies::ready(std::uint32_t sender, std::uint64_t from, std::uint64_t bytes) noexcept {
  if (!have_board(true)) return false;
  const bool room = std::any_of(std::begin(own_), std::end(own_), [](const Own& own) { return !own.used; });
  return room && view(sender, from, bytes).state == MemoryMaps::State::mapped;
}

/// Processes that wait and could help at once.
std::uint32_t SharedCopies::idle_helpers() noexcept {
  std::uint32_t count = 0;
  const std::uint64_t own = own_domain();
  const std::uint64_t now = now_ns();
  for (std::uint32_t word = 0; word * 64 < segment_.local_size(); ++word) {
    std::uint64_t bits = board_->header().idle[word].load(std::memory_order_relaxed);
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t rank = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      if (rank >= segment_.local_size() || rank == segment_.local_rank()) continue;
      const BoardProcess& other = board_->process(rank);
      const std::uint64_t waited = other.idle_ns.load(std::memory_order_relaxed);
      if (waited + kIdleIsOldNs < now) continue;
      if (near(distance_of(own, other.domain.load(std::memory_order_relaxed)))) ++count;
    }
  }
  return count;
}

std::optional<SharedCopies::Id> SharedCopies::open(const Wanted& wanted) noexcept {
  Own* const own = std::find_if(std::begin(own_), std::end(own_), [](const Own& one) { return !one.used; });
  if (own == std::end(own_) || !have_board(true)) return std::nullopt;
  std::uint32_t helpers = 0;
  Helpers who = wanted.steal == Steal::always && segment_.local_size() > 2 ? Helpers::anybody : Helpers::none;
  // With two processes there is nobody else, with more than cores an idle one takes a core from who works.
  if (wanted.steal == Steal::automatic && segment_.local_size() > 2 && wanted.bytes >= kForOthersLeast &&
      segment_.local_size() <= place_.cores) {
    helpers = idle_helpers();
    if (helpers != 0) who = Helpers::near;
  }
  std::uint64_t chunk = wanted.chunk_bytes;
  if (chunk == 0) {
    chunk = std::clamp(wanted.bytes / (2 * (std::uint64_t{2} + helpers)), kChunkLeast, kChunkLargest);
    chunk = (chunk + 4095) & ~std::uint64_t{4095};
  }
  chunk = std::max(chunk, (wanted.bytes + kChunksMost - 1) / kChunksMost);
  if (chunk > 0x7fffffff) return std::nullopt;
  const auto chunks = static_cast<std::uint32_t>((wanted.bytes + chunk - 1) / chunk);
  own->used = true;
  own->closed = false;
  own->looked_ns = 0;
  own->task = {
      wanted.message, wanted.from,           reinterpret_cast<std::uintptr_t>(wanted.to), wanted.bytes,
      wanted.sender,  segment_.local_rank(), static_cast<std::uint32_t>(chunk),           who};
  const std::uint32_t number = own_slot(static_cast<std::uint32_t>(own - own_));
  board_->slot(number).helpers.store(0, std::memory_order_relaxed);
  const Id id{number, board_->claim(number).open(own->task, chunks), own->task.chunk_bytes};
  ++counters_.opened;
  if (who != Helpers::none) offer_to_others();
  return id;
}

/// Raises or lowers the bit by which others see that there is something for them.
void SharedCopies::offer_to_others() noexcept {
  const std::uint32_t rank = segment_.local_rank();
  const bool any = std::any_of(std::begin(own_), std::end(own_),
                               [](const Own& own) { return own.used && own.task.helpers != Helpers::none; });
  auto& word = board_->header().offered[rank / 64];
  if (any) {
    word.fetch_or(bit_of(rank), std::memory_order_release);
  } else {
    word.fetch_and(~bit_of(rank), std::memory_order_relaxed);
  }
}

SharedCopies::Step SharedCopies::copy(MappedClaim& claim, const MappedClaim::Offer& offer,
                                      BoardSlot& slot) noexcept {
  const CopyTask& task = offer.task;
  // Found before the chunk is claimed: who has claimed must copy. If the task has changed since, the claim
  // fails, and what was found is not used.
  const auto from = view(task.from_rank, task.from, task.bytes);
  const auto to = view(task.to_rank, task.to, task.bytes);
  for (const auto& side : {from, to}) {
    using State = MemoryMaps::State;
    if (side.state == State::none || side.state == State::refused) return Step::refused;
    if (side.state != State::mapped) return Step::later;
  }
  auto& work = board_->process(segment_.local_rank()).work;
  if (!claim.take(offer, work)) return claim.all_taken() ? Step::none_left : Step::later;
  copy_chunk(task, offer.chunk(), from.at, to.at);
  const std::uint64_t bit = bit_of(segment_.local_rank());
  if ((slot.helpers.load(std::memory_order_relaxed) & bit) == 0)
    slot.helpers.fetch_or(bit, std::memory_order_relaxed);
  claim.finish(offer.chunk(), work);
  return Step::copied;
}

SharedCopies::Step SharedCopies::step(Id id, std::uint64_t message) noexcept {
  if (!have_board(false) || id.slot >= board_->slots()) return Step::refused;
  MappedClaim claim = board_->claim(id.slot);
  for (;;) {
    const auto offer = claim.look();
    if (!offer || offer->generation() != id.generation || offer->task.message != message)
      return Step::none_left;
    const std::uint32_t rank = segment_.local_rank();
    if (offer->task.from_rank != rank && offer->task.to_rank != rank) return Step::none_left;
    const std::uint32_t before = offer->chunk();
    const Step step = copy(claim, *offer, board_->slot(id.slot));
    if (step == Step::copied) ++counters_.own;
    if (step != Step::later) return step;
    // Somebody else was faster: the next one, now. Else the memory is not there yet.
    const auto next = claim.look();
    if (next && next->generation() == id.generation && next->chunk() == before) return Step::later;
  }
}

bool SharedCopies::ended(Id id) noexcept {
  MappedClaim claim = board_->claim(id.slot);
  if (claim.ended()) return true;
  if (!claim.all_taken()) return false;
  Own& own = own_[id.slot % kSlotsEach];
  const std::uint64_t now = now_ns();
  if (own.looked_ns == 0) own.looked_ns = now;
  if (now - own.looked_ns < kDeadLookNs) return false;
  own.looked_ns = now;
  look_for_dead(id, claim);
  return claim.ended();
}

void SharedCopies::look_for_dead(Id id, MappedClaim& claim) noexcept {
  const auto work = [this](std::uint32_t i) -> std::atomic<std::uint64_t>& {
    return board_->process(i).work;
  };
  const auto alive = [this](std::uint32_t i) { return !dead(i); };
  const auto& [task, used, closed, looked] = own_[id.slot % kSlotsEach];
  while (const auto chunk = claim.orphan(segment_.local_size(), work, alive)) {
    if (!closed) {
      const auto from = view(task.from_rank, task.from, task.bytes);
      // The sender's memory was mapped when this was opened; if that map had to go, it comes back.
      if (from.state != MemoryMaps::State::mapped) return;
      copy_chunk(task, *chunk, from.at, reinterpret_cast<std::byte*>(task.to));
    }
    claim.mark_done(*chunk);
    ++counters_.again;
  }
}

/// Surely, and with all its threads: what it had begun to write is written.
bool SharedCopies::dead(std::uint32_t local_rank) noexcept {
  const ProcSlot& slot = segment_.slot(local_rank);
  const auto state = static_cast<ProcState>(slot.state.load(std::memory_order_acquire));
  if (state == ProcState::exited || state == ProcState::ended) return true;  // mpiexec has waited for it
  if (segment_.alive(local_rank)) return false;
  return process_ended(slot.pid.load(std::memory_order_relaxed)) && !segment_.alive(local_rank);
}

void SharedCopies::close(Id id) noexcept {
  own_[id.slot % kSlotsEach].closed = true;
  board_->claim(id.slot).close();
}

std::uint64_t SharedCopies::release(Id id) noexcept {
  Own& own = own_[id.slot % kSlotsEach];
  own.used = false;
  if (own.task.helpers != Helpers::none) offer_to_others();
  return board_->slot(id.slot).helpers.load(std::memory_order_relaxed);
}

int SharedCopies::idle(std::uint64_t received) noexcept {
  if (segment_.local_size() <= 2) return 0;
  // A board is looked for rarely: most jobs never have one.
  if (++idle_passes_ % kPassesPerClock == 0) {
    if (!board_ && (idle_passes_ % 1024 != 0 || !have_board(false))) return 0;
    const std::uint64_t now = now_ns();
    if (received != received_ || idle_since_ns_ == 0) {
      received_ = received;
      idle_since_ns_ = now;
      if (idle_told_) set_idle(false);
    } else if (now - idle_since_ns_ >= kIdleNs) {
      if (!idle_told_) set_idle(true);
      board_->process(segment_.local_rank()).idle_ns.store(now, std::memory_order_relaxed);
    }
  }
  return idle_told_ && received == received_ ? steal() : 0;
}

void SharedCopies::set_idle(bool idle) noexcept {
  const std::uint32_t rank = segment_.local_rank();
  auto& word = board_->header().idle[rank / 64];
  if (idle) {
    (void)own_domain();
    word.fetch_or(bit_of(rank), std::memory_order_relaxed);
  } else {
    word.fetch_and(~bit_of(rank), std::memory_order_relaxed);
  }
  idle_told_ = idle;
}

int SharedCopies::steal() noexcept {
  for (std::uint32_t word = 0; word * 64 < segment_.local_size(); ++word) {
    std::uint64_t bits = board_->header().offered[word].load(std::memory_order_acquire);
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t rank = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      if (rank >= segment_.local_size() || rank == segment_.local_rank()) continue;
      if (steal_from(rank) != 0) return 1;
    }
  }
  return 0;
}

/// One chunk at most: there may be a message by now.
int SharedCopies::steal_from(std::uint32_t local_rank) noexcept {
  for (std::uint32_t index = 0; index < kSlotsEach; ++index) {
    const std::uint32_t number = local_rank * kSlotsEach + index;
    MappedClaim claim = board_->claim(number);
    const auto offer = claim.look();
    if (!offer || offer->task.helpers == Helpers::none) continue;
    if (offer->task.helpers == Helpers::near && !near(distance(local_rank))) continue;
    if (copy(claim, *offer, board_->slot(number)) != Step::copied) continue;
    ++counters_.stolen;
    return 1;
  }
  return 0;
}

void SharedCopies::drop(std::uint32_t local_rank) noexcept {
  maps_.drop(local_rank);
  if (!have_board(false)) return;
  board_->header().offered[local_rank / 64].fetch_and(~bit_of(local_rank), std::memory_order_relaxed);
  board_->header().idle[local_rank / 64].fetch_and(~bit_of(local_rank), std::memory_order_relaxed);
}

std::string SharedCopies::why() const { return refused_ ? *refused_ : maps_.why(); }

}  // namespace starling::shm
