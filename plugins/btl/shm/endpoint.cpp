// SPDX-License-Identifier: BSD-3-Clause
// Sending to one process of the node. What is hard here is to keep the order of messages while they change
// from ingress to lane and from lane to larger lane, and to make progress or say why not when there is no
// memory. Layer: plugin. Design: docs/design/lanes.md.

#include "plugins/btl/shm/endpoint.hpp"

#include <array>
#include <cstring>
#include <string>

#include "core/cache.hpp"
#include "core/clock.hpp"
#include "core/copy.hpp"
#include "plugins/btl/shm/cma.hpp"

namespace starling::btl {
namespace {

constexpr std::uint64_t kGrowth = 4;
constexpr std::uint32_t kBulkyCells = 5;  // the least cells of a message that profits from a larger lane
constexpr std::uint64_t kLapsBeforeGrowth = 8;

}  // namespace

ShmEndpoint::ShmEndpoint(Shared& shared, ProcId peer, std::uint32_t local_rank) noexcept
    : shared_(shared),
      bell_(shared.bell_of(local_rank)),
      producer_(shared.ingress_of(local_rank), shared.place.local_rank),
      local_rank_(local_rank),
      peer_(peer),
      remote_(shared, local_rank) {}

ShmEndpoint::~ShmEndpoint() {
  if (has_lane_) {
    close_lane();
  } else if (extent_.bytes != 0) {
    shared_.segment.release(extent_.offset, extent_.bytes);
  }
}

void ShmEndpoint::close_lane() noexcept {
  lane_.finish(record_header(RecordKind::closed, 0));
  notify();
  if (shared_.waiting == this) shared_.waiting = nullptr;
  has_lane_ = false;
  extent_ = {};
  sent_ = 0;
  shared_.lanes.closed(*this);
}

void ShmEndpoint::look_at_lane() noexcept {
  unused_looks_ = lane_.written() == written_at_look_ ? unused_looks_ + 1 : 0;
  written_at_look_ = lane_.written();
}

bool ShmEndpoint::await_room() noexcept {
  // The ingress has no bell, and memory that others give back is not announced.
  if (!has_lane_ || lost_ || starved_since_ns_ != 0) return false;
  lane_.want_room();
  return true;
}

Post ShmEndpoint::send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept {
  const std::size_t bytes = header.size() + payload.size();
  if (bytes <= kCellBytes - 8 && has_lane_) [[likely]] {
    // One cell: most messages. A short form of the general case below.
    const std::uint32_t cell = lane_.reserve(1);
    if (cell != kNoCell) [[likely]] {
      std::byte* const to = lane_.ring().payload(cell);
      copy_payload(to, header.data(), header.size());
      copy_payload(to + header.size(), payload.data(), payload.size());
      ++shared_.counters.messages_sent;
      shared_.counters.bytes_sent += bytes;
      lane_.commit(1, record_header(RecordKind::data, static_cast<std::uint32_t>(bytes)));
      notify();
      return Post::done;
    }
  }
  std::byte* const to = reserve(bytes);
  if (to == nullptr) [[unlikely]]
    return Post::again;
  copy_first_line_last(to + header.size(), payload.data(), payload.size());
  copy_payload(to, header.data(), header.size());
  commit(bytes);
  return Post::done;
}

std::byte* ShmEndpoint::reserve(std::size_t bytes) noexcept {
  if (!has_lane_) [[unlikely]]
    return reserve_first(bytes);
  const std::uint32_t cells = cells_for(bytes);
  if (cells >= kBulkyCells && (bulk_ += cells) > kLapsBeforeGrowth * lane_.ring().cells()) [[unlikely]]
    (void)widen();
  std::uint32_t cell = lane_.reserve(cells);
  if (cell == kNoCell) [[unlikely]] {
    cell = make_room(cells);
    if (cell == kNoCell) return nullptr;
  }
  reserved_cells_ = cells;
  // The first line of the next record stays away: the reader polls it.
  fetched_ = 1;
  shared_.waiting = this;
  return lane_.ring().payload(cell);
}

// A process that waits takes the lines of its next record, which it expects to be as long as the last one. A
// few at a time, since what it waits for comes through the same bus.
void ShmEndpoint::fetch_next() noexcept {
  constexpr std::uint32_t kAtATime = 8;
  const std::uint32_t all = lane_.known_free(reserved_cells_);
  const std::uint32_t end = std::min(all, fetched_ + kAtATime);
  for (; fetched_ < end; ++fetched_) fetch_to_write(lane_.ring().payload(lane_.last_cell() + fetched_));
  if (fetched_ >= all) shared_.waiting = nullptr;
}

void ShmEndpoint::commit(std::size_t bytes) noexcept {
  ++shared_.counters.messages_sent;
  shared_.counters.bytes_sent += bytes;
  if (in_ingress_) [[unlikely]] {
    IngressCell& cell = shared_.ingress_of(local_rank_).cell(claim_.cell);
    cell.bytes = static_cast<std::uint16_t>(bytes);
    producer_.publish(claim_);
    in_ingress_ = false;
  } else {
    lane_.commit(cells_for(bytes), record_header(RecordKind::data, static_cast<std::uint32_t>(bytes)));
  }
  notify();
}

inline void ShmEndpoint::notify() noexcept {
  const std::uint32_t attention = bell_.attention();
  if (attention != 0) [[unlikely]]
    answer(attention);
}

[[gnu::noinline]] void ShmEndpoint::answer(std::uint32_t attention) noexcept {
  if ((attention & shm::kWantsActivity) != 0) {
    StdAtomics::fence(std::memory_order_seq_cst);  // between the message and the look at the bit
    const std::uint32_t mine = shared_.place.local_rank;
    mark_activity(shared_.ingress_of(local_rank_).header().activity[mine / 64 % kActivityWords],
                  std::uint64_t{1} << (mine % 64));
  }
  if ((attention & shm::kAsleep) != 0) shared_.segment.wake(local_rank_);
}

// The first messages of a pair, and those for which there is no lane.
[[gnu::noinline]] std::byte* ShmEndpoint::reserve_first(std::size_t bytes) noexcept {
  expects(bytes <= shared_.limits.message_max_bytes, "a message above Limits::message_max_bytes");
  if (lost_) return nullptr;
  const bool small = bytes <= IngressCell::kPayloadBytes;
  if (small && sent_ < shared_.settings.lane_after && extent_.bytes == 0) {
    ++sent_;
    std::byte* const to = reserve_in_ingress(IngressKind::data);
    if (to == nullptr) --sent_;
    return to;
  }
  if (open_lane(bytes)) return reserve(bytes);
  // Not while a lane waits to be announced: what is sent now must not be overtaken by the announcement.
  return small && extent_.bytes == 0 ? reserve_in_ingress(IngressKind::data) : nullptr;
}

std::byte* ShmEndpoint::reserve_in_ingress(IngressKind kind) noexcept {
  claim_ = producer_.claim();
  if (!claim_.ok) {
    ++shared_.counters.full;
    return nullptr;
  }
  IngressCell& cell = shared_.ingress_of(local_rank_).cell(claim_.cell);
  cell.world_rank = shared_.place.self.rank;
  cell.kind = static_cast<std::uint16_t>(kind);
  in_ingress_ = true;
  return cell.payload;
}

bool ShmEndpoint::open_lane(std::size_t bytes) noexcept {
  if (extent_.bytes == 0) {
    std::uint64_t size = shared_.settings.lane_first_bytes;
    while (lane_message_max(size) < bytes && size < shared_.settings.lane_max_bytes) size *= 2;
    const bool needed = bytes > IngressCell::kPayloadBytes;
    if (!shared_.lanes.allows(size)) {
      if (!needed) return false;
      shared_.lanes.make_room(size);
    }
    const auto extent = new_extent(size, needed);
    if (!extent) return false;
    extent_ = *extent;
    lane_ = Writer(shared_.ring_at(extent_));
    lane_.create();
  }
  return announce_lane();
}

bool ShmEndpoint::announce_lane() noexcept {
  std::byte* const to = reserve_in_ingress(IngressKind::lane);
  if (to == nullptr) return false;
  std::memcpy(to, &extent_, sizeof(extent_));
  shared_.ingress_of(local_rank_).cell(claim_.cell).bytes = sizeof(extent_);
  producer_.publish(claim_);
  in_ingress_ = false;
  has_lane_ = true;
  unused_looks_ = 0;
  written_at_look_ = 0;
  shared_.lanes.opened(*this);
  return true;
}

// The lane is full, or too small for a record of `cells` cells at any position.
[[gnu::noinline]] std::uint32_t ShmEndpoint::make_room(std::uint32_t cells) noexcept {
  expects(cells <= cells_for(shared_.limits.message_max_bytes), "a message above Limits::message_max_bytes");
  if (lost_) return kNoCell;
  ++shared_.counters.full;
  const Settings& settings = shared_.settings;
  std::uint64_t wanted = extent_.bytes;
  while (lane_cells(wanted) / 2 < cells && wanted < settings.lane_max_bytes) wanted *= 2;
  if (wanted > extent_.bytes) return grow(wanted, true) ? lane_.reserve(cells) : kNoCell;
  return widen() ? lane_.reserve(cells) : kNoCell;
}

// A larger lane, if it may be one: it was found full, or longer messages go around and around in it. Then
// the next lap is written to lines that the reader has just read, and these come from its first cache: slower
// than from the one behind, where a larger lane's are.
[[gnu::noinline]] bool ShmEndpoint::widen() noexcept {
  bulk_ = 0;
  const std::uint64_t wanted = std::min(extent_.bytes * kGrowth, shared_.settings.lane_max_bytes);
  return wanted > extent_.bytes && shared_.lanes.allows(wanted) && grow(wanted, false);
}

bool ShmEndpoint::grow(std::uint64_t bytes, bool needed) noexcept {
  const auto extent = new_extent(bytes, needed);
  if (!extent) return false;
  Writer larger(shared_.ring_at(*extent));
  larger.create();
  std::memcpy(lane_.ring().payload(lane_.last_cell()), &*extent, sizeof(*extent));
  lane_.finish(record_header(RecordKind::moved, sizeof(*extent)));
  lane_ = larger;
  extent_ = *extent;
  return true;
}

std::optional<LaneExtent> ShmEndpoint::new_extent(std::uint64_t bytes, bool needed) noexcept {
  auto made = shared_.segment.allocate(bytes);
  if (made) {
    starved_since_ns_ = 0;
    return LaneExtent{*made, bytes};
  }
  shared_.note("a queue to another process stays small: " + made.error().text());
  if (needed) starved(made.error());
  return {};
}

// A message is waiting that cannot go without more memory. Others may give some back, so it is tried for a
// while.
void ShmEndpoint::starved(const Error& why) noexcept {
  constexpr std::uint64_t kNewPeriodNs = 1'000'000'000;
  const std::uint64_t now = now_ns();
  if (starved_since_ns_ == 0 || now - starved_last_ns_ > kNewPeriodNs) starved_since_ns_ = now;
  starved_last_ns_ = now;
  if (now - starved_since_ns_ > shared_.settings.memory_wait_ns) {
    lose(why.code,
         "a message that needs a larger queue has waited too long (shm_memory_wait): " + why.text());
  }
}

void ShmEndpoint::lose(Errc code, std::string why) {
  if (lost_) return;
  lost_ = true;
  shared_.sink.on_peer_lost(peer_, Error{code, "btl/shm", std::move(why)});
}

Post ShmEndpoint::get(const RemoteBuffer& from, std::span<std::byte> to, Completion* completion) noexcept {
  const auto mapped = shared_.mapped.get(local_rank_, from.address, to, can_read());
  switch (mapped.outcome) {
    case MappedGets::Outcome::copied:
      ++shared_.counters.mapped_gets;
      ++shared_.counters.gets;
      return Post::done;
    case MappedGets::Outcome::later: return Post::again;
    case MappedGets::Outcome::refused:
      shared_.note("another process's memory cannot be mapped: " + shared_.mapped.why());
      completion->done(completion, false);
      return Post::posted;
    case MappedGets::Outcome::ask_kernel: break;
  }
  ++shared_.counters.gets;
  const std::uint64_t begun = mapped.timed ? now_ns() : 0;
  const int error = read_process(shared_.pid_of(local_rank_), from.address, to);
  if (mapped.timed) shared_.mapped.kernel_took(to.size(), now_ns() - begun);
  if (error == 0) return Post::done;
  shared_.note(std::string("process_vm_readv failed after it had worked: ") + std::strerror(error));
  completion->done(completion, false);
  return Post::posted;
}

bool ShmEndpoint::can_get(const RemoteBuffer& from) noexcept {
  return can_read() || shared_.mapped.possible(local_rank_, from.address);
}

std::byte* ShmEndpoint::find(std::uint64_t address, std::size_t bytes) noexcept {
  return shared_.written.find(local_rank_, address, bytes);
}

bool ShmEndpoint::copy(std::uint64_t address, std::span<const std::byte> from) noexcept {
  const int error = write_process(shared_.pid_of(local_rank_), address, from);
  if (error != 0) shared_.note(std::string("process_vm_writev failed: ") + std::strerror(error));
  return error == 0;
}

/// Whether the kernel lets this process read the peer, and write to it.
bool ShmEndpoint::can_read() noexcept {
  if (get_ != Get::unknown) return get_ == Get::works;
  if (!shared_.settings.cma) return false;
  const AreaHeader& header = shared_.ingress_of(local_rank_).header();
  const std::uint64_t address = header.nonce_address.load(std::memory_order_acquire);
  if (address == 0) return false;  // the peer has not come this far yet: asked again next time
  std::array<std::uint64_t, 1> seen{};
  const int error =
      read_process(shared_.pid_of(local_rank_), address, std::as_writable_bytes(std::span(seen)));
  const bool same = error == 0 && seen[0] == header.nonce.load(std::memory_order_relaxed);
  get_ = same ? Get::works : Get::refused;
  if (!same) {
    shared_.note(std::string("no direct copies from other processes (process_vm_readv): ") +
                 (error != 0 ? std::strerror(error) : "the pid is another process's"));
  }
  return same;
}

}  // namespace starling::btl
