// SPDX-License-Identifier: BSD-3-Clause
// Set-up of btl/shm, and looking after peers. Layer: plugin. Design: docs/design/lanes.md.

#include "plugins/btl/shm/component.hpp"

#include <sys/random.h>

#include <optional>
#include <string>
#include <utility>

#include "core/clock.hpp"
#include "core/worlds.hpp"
#include "frameworks/btl/plain_region.hpp"

namespace starling::btl {
namespace {

constexpr std::size_t kShmMaxBytes = 64 * 1024;
constexpr std::size_t kEagerBytes = 16 * 1024;
constexpr std::size_t kFragmentBytes = 16 * 1024;
constexpr std::size_t kPartBytes = 8 * 1024;
constexpr std::size_t kPartedBytes = 64 * 1024;

std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), GRND_NONBLOCK) != static_cast<ssize_t>(sizeof(number))) {
    number = now_ns() * 0x9e3779b97f4a7c15u;
  }
  return number | 1;
}

}  // namespace

ShmComponent::ShmComponent(const Args& args)
    : shared_(*args.segment, args.sink, args.place, Settings::from(args.params)),
      cleaning_(shared_.settings.lane_cleaning) {
  Limits& limits = shared_.limits;
  limits.message_max_bytes = std::min(kShmMaxBytes, lane_message_max(shared_.settings.lane_max_bytes));
  limits.eager_bytes = std::min(kEagerBytes, limits.message_max_bytes);
  if (limits.message_max_bytes > 2 * kPartBytes) {
    limits.part_bytes = limits.parts_above = kPartBytes;
    limits.parted_bytes = kPartedBytes;
  }
  limits.fragment_bytes = std::min(kFragmentBytes, limits.message_max_bytes);
  limits.can.add(Capability::get, shared_.settings.cma || shared_.mapped.on());
  limits.can.add(Capability::put, shared_.settings.cma);
  limits.can.add(Capability::lend, shared_.settings.cma);
  limits.reach = Reach::node;
}

Result<void> ShmComponent::start() {
  const std::uint32_t own = shared_.place.local_rank;
  auto reserved = shared_.segment.reserve_area(own);
  if (!reserved) return reserved;
  const MappedIngress area = shared_.ingress_of(own);
  ingress_ = IngressConsumer<StdAtomics, MappedIngress>(area);
  nonce_ = std::make_unique<std::uint64_t>(random_number());
  area.header().nonce.store(*nonce_, std::memory_order_relaxed);
  area.header().nonce_address.store(reinterpret_cast<std::uintptr_t>(nonce_.get()),
                                    std::memory_order_release);
  return {};
}

ShmComponent::~ShmComponent() {
  if (nonce_ != nullptr) {
    shared_.ingress_of(shared_.place.local_rank).header().nonce_address.store(0, std::memory_order_release);
  }
  if (wide_) {
    shared_.segment.slot(shared_.place.local_rank)
        .attention.fetch_and(~shm::kWantsActivity, std::memory_order_relaxed);
  }
}

std::int64_t ShmComponent::local_rank_of(ProcId peer) const noexcept {
  const Place& place = shared_.place;
  return place.local_rank_of == nullptr ? -1 : place.local_rank_of(place.context, peer);
}

Result<void> ShmComponent::reaches(ProcId peer) const {
  if (local_rank_of(peer) >= 0) return {};
  return fail(Errc::unsupported, "btl/shm", text_of(peer) + " is not on this node");
}

Result<Endpoint*> ShmComponent::connect(ProcId peer, std::span<const std::byte>) {
  auto reached = reaches(peer);
  if (!reached) return fail(std::move(reached).error());
  const auto local = static_cast<std::uint32_t>(local_rank_of(peer));
  if (const auto known = endpoints_.find(local); known != endpoints_.end()) return known->second.get();
  // The peer may not have come yet; its area is valid when zero and kept for it.
  auto reserved = shared_.segment.reserve_area(local);
  if (!reserved) return fail(std::move(reserved).error());
  auto made = std::make_unique<ShmEndpoint>(shared_, peer, local);
  Endpoint* const endpoint = endpoints_.emplace(local, std::move(made)).first->second.get();
  ++shared_.counters.endpoints;
  return endpoint;
}

Result<std::unique_ptr<Exposed>> ShmComponent::expose(std::span<std::byte> memory) {
  if (shared_.settings.cma) return std::unique_ptr<Exposed>(std::make_unique<PlainExposed>(memory));
  return fail(Errc::unsupported, "btl/shm", "processes of the node do not read each other (shm_cma=false)");
}

Component::Counters ShmComponent::counters() const {
  Counters counters = shared_.counters;
  if (std::string note = shared_.mapped.note(); !note.empty()) counters.notes.push_back(std::move(note));
  const auto& copies = shared_.copies.counters();
  if (copies.opened + copies.own + copies.stolen != 0) {
    // In a word of its own, as who has received none: notes that differ in numbers only are told once.
    counters.notes.push_back(
        "copies by several processes: " + (copies.opened == 0 ? "none" : std::to_string(copies.opened)) +
        " received, chunks of own messages " + std::to_string(copies.own) + ", of others' " +
        std::to_string(copies.stolen) + ", of processes that died " + std::to_string(copies.again));
  }
  return counters;
}

// Called after polls that found nothing. What it does for others is an event.
int ShmComponent::idle() noexcept {
  constexpr std::uint32_t kPollsPerLook = 64;
  if (untidy_) tidy();
  if (shared_.waiting != nullptr) shared_.waiting->fetch_next();
  if (++idle_polls_ % kPollsPerLook == 0) look_around();
  return shared_.copies.idle(shared_.counters.messages_received);
}

// Reads memory of others ten times a second, /proc less.
void ShmComponent::look_around() noexcept {
  constexpr std::uint64_t kLookNs = 100'000'000;
  constexpr std::uint64_t kLongLookNs = 2'000'000'000;
  const std::uint64_t now = now_ns();
  if (now < next_look_ns_) return;
  const bool ask_the_system = now >= next_long_look_ns_ && next_long_look_ns_ != 0;
  if (ask_the_system || next_long_look_ns_ == 0) next_long_look_ns_ = now + kLongLookNs;
  next_look_ns_ = now + kLookNs;
  shared_.lanes.look();
  shared_.mapped.tidy();
  shared_.written.tidy();
  shared_.copies.tidy();
  look_for_dead(ask_the_system);
}

/// How a process of the node has ended, if it is known to have.
std::optional<Errc> ShmComponent::end_of(std::uint32_t local_rank, bool ask_the_system) noexcept {
  switch (
      static_cast<shm::ProcState>(shared_.segment.slot(local_rank).state.load(std::memory_order_acquire))) {
    case shm::ProcState::exited: return Errc::peer_lost;
    case shm::ProcState::ended: return Errc::peer_left;
    default: break;
  }
  const bool met = endpoints_.count(local_rank) != 0 || incoming_.count(local_rank) != 0;
  if (!ask_the_system || !met || shared_.segment.alive(local_rank)) return std::nullopt;
  return Errc::peer_lost;
}

std::optional<ProcId> ShmComponent::proc_of(std::uint32_t local_rank) const noexcept {
  const Place& place = shared_.place;
  if (const auto from = incoming_.find(local_rank); from != incoming_.end()) return from->second->origin.proc;
  // Ranks of a node ascend. Of one node alone the first look is the right one: n processes that end must not
  // be n walks over all for each of n others.
  for (std::uint32_t rank = local_rank; rank < place.world_size; ++rank) {
    const ProcId proc{place.self.world, rank};
    if (local_rank_of(proc) == static_cast<std::int64_t>(local_rank)) return proc;
  }
  return std::nullopt;
}

// What a dead process has sent before its end is delivered first: this is called when nothing is left to
// poll. Those never met are looked at, too: a receive may name one.
void ShmComponent::look_for_dead(bool ask_the_system) noexcept {
  // A thousand processes must not read a thousand slots each, ten times a second.
  const std::uint32_t ends = shared_.segment.ends();
  if (ends == ends_seen_ && !ask_the_system) return;
  ends_seen_ = ends;
  for (std::uint32_t local_rank = 0; local_rank < shared_.place.local_size; ++local_rank) {
    if (local_rank == shared_.place.local_rank || lost_.count(local_rank) != 0) continue;
    const auto end = end_of(local_rank, ask_the_system);
    if (!end) continue;
    lost_[local_rank] = true;
    shared_.mapped.drop(local_rank);
    shared_.written.drop(local_rank);
    shared_.copies.drop(local_rank);
    const char* const why = *end == Errc::peer_left ? "the process has left MPI and ended"
                                                    : "the process has ended without leaving MPI";
    if (const auto found = endpoints_.find(local_rank); found != endpoints_.end()) {
      found->second->lose(*end, why);
    } else if (const auto proc = proc_of(local_rank)) {
      shared_.sink.on_peer_lost(*proc, Error{*end, "btl/shm", why});
    }
  }
}

Result<std::unique_ptr<Component>> create_shm_component(const Args& args) {
  if (args.segment == nullptr) {
    return fail(Errc::unsupported, "create", "there is no shared memory for the processes of this node");
  }
  auto component = std::make_unique<ShmComponent>(args);
  auto started = component->start();
  if (!started) return fail(std::move(started).error());
  return std::unique_ptr<Component>(std::move(component));
}

}  // namespace starling::btl
