// SPDX-License-Identifier: BSD-3-Clause
// The node segment: creation, checks at attach, slots, sleep and wake-up. Layer: framework.
// Design: docs/design/shared-memory.md.

#include "frameworks/shm/node_segment.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <optional>

#include "core/atomics.hpp"
#include "core/limits.hpp"
#include "frameworks/shm/arena.hpp"
#include "frameworks/shm/bell.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "frameworks/shm/ends.hpp"
#include "frameworks/shm/layout.hpp"
#include "frameworks/shm/process_identity.hpp"

namespace starling::shm {
namespace {

constexpr char kWhere[] = "node segment";

// Not FUTEX_PRIVATE: the other side is another process.
void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Takes part in the fences of other processes. It is refused on old kernels and in some containers.
bool register_for_fences() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

Error mismatch(const char* what, std::uint64_t found, std::uint64_t expected) {
  return Error{Errc::bad_input, kWhere,
               std::string(what) + " is " + std::to_string(found) + ", this process expected " +
                   std::to_string(expected) +
                   "; all processes of a job and its mpiexec must use the same Starling and the same shm_* "
                   "parameters"};
}

}  // namespace

std::size_t Geometry::total_bytes() const noexcept { return offsets_of(*this).end; }

std::uint64_t job_nonce(std::string_view job) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

Result<UniqueFd> create_memfd(const char* name, const Geometry& geometry, std::uint64_t nonce) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return fail(system_error(kWhere, "memfd_create", errno));
  auto done = NodeSegment::initialise(fd.get(), geometry, nonce);
  if (!done) return fail(std::move(done).error());
  // With a sealed size no process can make another one's access a SIGBUS; reserving and giving back pages
  // still works.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return fail(system_error(kWhere, "cannot seal the size of a memfd", errno));
  }
  return fd;
}

Result<void> NodeSegment::initialise(int fd, const Geometry& geometry, std::uint64_t nonce) {
  const Offsets at = offsets_of(geometry);
  if (auto sized = set_file_size(fd, at.end); !sized) return fail(std::move(sized).error().within(kWhere));
  auto reserved = reserve_pages(fd, 0, at.areas, "the node segment's header");
  if (!reserved) return reserved;
  auto mapping = Mapping::map(fd, at.areas);
  if (!mapping) return fail(std::move(mapping).error());
  auto& header = *reinterpret_cast<Header*>(mapping->data());
  header.layout_version = kLayoutVersion;
  header.local_size = geometry.local_size;
  header.area_bytes = geometry.area_bytes;
  header.arena_bytes = geometry.arena_bytes;
  header.job_nonce = nonce;
  header.ready.store(kReady, std::memory_order_release);
  return {};
}

struct NodeSegment::State {
  Segment segment;
  Geometry geometry;
  Offsets at;
  Arena arena;
  std::uint32_t local_rank = 0;
  std::uint64_t pid_namespace = 0;
  bool registered = false;  // for fences by membarrier; then this process also makes them
  std::optional<Bell> bell;

  [[nodiscard]] std::byte* base() const noexcept { return segment.mapping.data(); }
  [[nodiscard]] Header& header() const noexcept { return *reinterpret_cast<Header*>(base()); }
  [[nodiscard]] ProcSlot& slot(std::uint32_t rank) const noexcept {
    return reinterpret_cast<ProcSlot*>(base() + at.slots)[rank];
  }
  [[nodiscard]] Doorbell<StdAtomics> bell_of(std::uint32_t rank) const noexcept {
    return {slot(rank).doorbell, slot(rank).attention, registered};
  }
};

Result<NodeSegment> NodeSegment::open(Segment segment, const Geometry& geometry, std::uint32_t local_rank) {
  const Offsets at = offsets_of(geometry);
  if (local_rank >= geometry.local_size)
    return fail(mismatch("the local rank", local_rank, geometry.local_size - 1));
  struct stat facts {};
  if (::fstat(segment.fd.get(), &facts) != 0) return fail(system_error(kWhere, "fstat", errno));
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (size != at.end) return fail(mismatch("the segment's size", size, at.end));
  if (segment.mapping.size() != at.end)
    return fail(mismatch("the mapping's size", segment.mapping.size(), at.end));
  const auto& header = *reinterpret_cast<const Header*>(segment.mapping.data());
  if (header.ready.load(std::memory_order_acquire) != kReady) {
    return fail(Errc::bad_input, kWhere, "the segment is not initialised");
  }
  if (header.layout_version != kLayoutVersion) {
    return fail(mismatch("the layout's version", header.layout_version, kLayoutVersion));
  }
  if (header.local_size != geometry.local_size) {
    return fail(mismatch("the number of processes on this node", header.local_size, geometry.local_size));
  }
  if (header.area_bytes != geometry.area_bytes) {
    return fail(mismatch("shm_area_bytes", header.area_bytes, geometry.area_bytes));
  }
  if (header.arena_bytes != geometry.arena_bytes) {
    return fail(mismatch("shm_arena_bytes", header.arena_bytes, geometry.arena_bytes));
  }
  auto* const state = new State{};
  state->segment = std::move(segment);
  state->geometry = geometry;
  state->at = at;
  state->local_rank = local_rank;
  state->pid_namespace = shm::pid_namespace();
  state->arena = Arena(state->segment.fd.get(), state->base(), geometry);
  return NodeSegment(state);
}

NodeSegment::NodeSegment(NodeSegment&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
NodeSegment& NodeSegment::operator=(NodeSegment&& other) noexcept {
  if (this != &other) {
    delete state_;
    state_ = std::exchange(other.state_, nullptr);
  }
  return *this;
}
NodeSegment::~NodeSegment() { delete state_; }

void NodeSegment::enter() noexcept {
  ProcSlot& own = state_->slot(state_->local_rank);
  const auto pid = static_cast<std::uint32_t>(::getpid());
  if (own.pid.load(std::memory_order_relaxed) != pid) {
    // An earlier program of this rank may have died asleep.
    own.attention.store(0, std::memory_order_relaxed);
    own.bell.store(0, std::memory_order_relaxed);
    own.memory.store(0, std::memory_order_relaxed);  // its addresses mean something else in this one
    own.pid.store(pid, std::memory_order_relaxed);
    own.start_time.store(start_time_of(pid), std::memory_order_relaxed);
  }
  own.pid_namespace = state_->pid_namespace;
  if (!state_->registered) state_->registered = register_for_fences();
  if (state_->registered) own.attention.fetch_or(kFencesForAll, std::memory_order_relaxed);
  own.state.store(static_cast<std::uint32_t>(ProcState::attached), std::memory_order_release);
}

void NodeSegment::leave() noexcept {
  state_->slot(state_->local_rank)
      .state.store(static_cast<std::uint32_t>(ProcState::left), std::memory_order_release);
}

std::uint32_t NodeSegment::local_size() const noexcept { return state_->geometry.local_size; }
std::uint32_t NodeSegment::local_rank() const noexcept { return state_->local_rank; }
ProcSlot& NodeSegment::slot(std::uint32_t local_rank) noexcept { return state_->slot(local_rank); }
std::byte* NodeSegment::area(std::uint32_t local_rank) noexcept {
  return state_->base() + state_->at.areas + std::size_t{local_rank} * state_->geometry.area_bytes;
}
std::size_t NodeSegment::area_bytes() const noexcept { return state_->geometry.area_bytes; }

Result<void> NodeSegment::reserve_area(std::uint32_t local_rank) {
  return reserve_pages(state_->segment.fd.get(),
                       state_->at.areas + std::uint64_t{local_rank} * state_->geometry.area_bytes,
                       state_->geometry.area_bytes, "a process's area");
}

Result<std::uint64_t> NodeSegment::allocate(std::size_t bytes) { return state_->arena.allocate(bytes); }
void NodeSegment::release(std::uint64_t offset, std::size_t bytes) noexcept {
  state_->arena.release(offset, bytes);
}
std::byte* NodeSegment::at(std::uint64_t offset) noexcept { return state_->base() + offset; }
std::uint64_t NodeSegment::arena_used() const noexcept { return state_->arena.used(); }

bool NodeSegment::alive(std::uint32_t local_rank) noexcept {
  const ProcSlot& other = state_->slot(local_rank);
  return is_alive(other, [&] {
    if (other.pid_namespace != state_->pid_namespace || state_->pid_namespace == 0) return true;
    const std::uint64_t started = other.start_time.load(std::memory_order_relaxed);
    if (started == 0) return true;
    return start_time_of(other.pid.load(std::memory_order_relaxed)) == started;
  });
}

void NodeSegment::mark_ended(std::uint32_t local_rank) noexcept {
  std::atomic<std::uint32_t>& state = state_->slot(local_rank).state;
  const bool in_order = state.load(std::memory_order_acquire) == static_cast<std::uint32_t>(ProcState::left);
  state.store(static_cast<std::uint32_t>(in_order ? ProcState::ended : ProcState::exited),
              std::memory_order_release);
  if (!in_order) state_->header().deaths.fetch_add(1, std::memory_order_release);
  state_->header().ends.fetch_add(1, std::memory_order_release);
  for (std::uint32_t i = 0; i < local_size(); ++i) ring(i);
}

std::uint32_t NodeSegment::ends() const noexcept {
  return state_->header().ends.load(std::memory_order_acquire);
}

std::uint32_t NodeSegment::deaths() const noexcept {
  return state_->header().deaths.load(std::memory_order_acquire);
}

void NodeSegment::tell_far_death(std::uint32_t rank) noexcept {
  Header& header = state_->header();
  const std::uint32_t told = header.far_deaths.load(std::memory_order_relaxed);
  if (told == kFarDeathsMost) return;
  header.far_death[told].store(rank, std::memory_order_relaxed);
  header.far_deaths.store(told + 1, std::memory_order_release);
  for (std::uint32_t i = 0; i < local_size(); ++i) ring(i);
}

/// Any process of the node can write there.
std::uint32_t NodeSegment::far_deaths() const noexcept {
  return std::min(state_->header().far_deaths.load(std::memory_order_acquire), kFarDeathsMost);
}

std::uint32_t NodeSegment::far_death(std::uint32_t index) const noexcept {
  return state_->header().far_death[index].load(std::memory_order_relaxed);
}

YieldPause& NodeSegment::yield_pause() noexcept { return state_->header().yield_pause; }

std::atomic<std::uint64_t>& NodeSegment::board() noexcept { return state_->header().board; }

std::span<std::atomic<std::uint64_t>> NodeSegment::findings() noexcept { return state_->header().findings; }

void NodeSegment::ring(std::uint32_t local_rank) noexcept {
  if ((state_->bell_of(local_rank).attention() & kAsleep) != 0) [[unlikely]]
    wake(local_rank);
}

bool NodeSegment::awaits(std::uint32_t local_rank, std::uint32_t what) noexcept {
  return shm::awaits(state_->bell_of(local_rank).attention(), what);
}

void NodeSegment::wake(std::uint32_t local_rank) noexcept {
  if (!state_->bell_of(local_rank).ring()) return;
  ProcSlot& slot = state_->slot(local_rank);
  slot.waker_core.store(static_cast<std::uint32_t>(::sched_getcpu() + 1), std::memory_order_relaxed);
  futex_wake(slot.doorbell);
  std::atomic_thread_fence(std::memory_order_acquire);  // the bell was named before kAsleep was raised
  const std::uint64_t name = slot.bell.load(std::memory_order_relaxed);
  if (name != 0) Bell::ring(name);
}

bool NodeSegment::woken_from_own_core() const noexcept {
  const int core = ::sched_getcpu();
  const std::uint32_t waker = state_->slot(local_rank()).waker_core.load(std::memory_order_relaxed);
  return core >= 0 && waker == static_cast<std::uint32_t>(core + 1);
}

Result<void> NodeSegment::open_bell() {
  if (state_->bell) return {};
  auto opened = Bell::open();
  if (!opened) return fail(std::move(opened).error());
  state_->bell = std::move(*opened);
  // A producer that reads the old value rings the futex only; then the sleeper wakes at its limit, once.
  state_->slot(state_->local_rank).bell.store(state_->bell->name(), std::memory_order_release);
  return {};
}

int NodeSegment::bell_fd() const noexcept { return state_->bell ? state_->bell->fd() : -1; }

void NodeSegment::silence_bell() noexcept {
  if (state_->bell) state_->bell->silence();
}

std::uint32_t NodeSegment::prepare_sleep(std::uint32_t awaited) noexcept {
  state_->slot(state_->local_rank).waker_core.store(0, std::memory_order_relaxed);
  const std::uint32_t value = state_->bell_of(state_->local_rank).prepare(awaited);
  fence_all();
  return value;
}

void NodeSegment::fence_all() noexcept {
  if (!state_->registered) return;
  // After a successful registration it can fail only for want of kernel memory; whoever sleeps then wakes at
  // its limit.
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

bool NodeSegment::registered_for_fences() const noexcept { return state_->registered; }

bool NodeSegment::sleep(std::uint32_t value, std::uint64_t limit_ns) noexcept {
  // A producer that died between taking the flag down and ringing must not leave us asleep for ever.
  constexpr std::uint64_t kLongest = 1'000'000'000;
  const std::uint64_t limit = std::min(limit_ns, kLongest);
  const timespec time{static_cast<time_t>(limit / 1'000'000'000), static_cast<long>(limit % 1'000'000'000)};
  ProcSlot& own = state_->slot(state_->local_rank);
  return ::syscall(SYS_futex, &own.doorbell, FUTEX_WAIT, value, &time, nullptr, 0) != 0 && errno == ETIMEDOUT;
}

void NodeSegment::cancel_sleep() noexcept { state_->bell_of(state_->local_rank).awake(); }

}  // namespace starling::shm
