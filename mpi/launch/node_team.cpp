// SPDX-License-Identifier: BSD-3-Clause
// Boards of communicators inside a node: making them, waiting at them. What is hard: every decision must be
// the same on all members, so each follows from equal facts or is agreed on. Layer: mpi.
// docs/design/node-collectives.md

#include "mpi/launch/node_team.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <numeric>
#include <span>

#include "core/clock.hpp"
#include "frameworks/shm/doorbell.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/params.hpp"
#include "mpi/error.hpp"
#include "mpi/hardware/hardware.hpp"
#include "mpi/launch/unequal.hpp"
#include "mpi/request/fault.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi::coll {
namespace {

/// Collectives by messages before a communicator gets boards: many live for one or two only.
constexpr std::uint32_t kCallsBefore = 2;
constexpr std::uint32_t kMostMembers = 256;
/// Up to how many bytes two members use boards.
constexpr std::uint64_t kMostOfPair = 65536;
/// Fewer members exchange unequal blocks faster by messages.
constexpr std::uint32_t kLeastForBlocks = 4;
/// Bytes of the cells of the board that a gatherv uses, and of the one for blocks to each other member.
constexpr std::uint64_t kGatherCell = 16384, kExchangeCell = 65536;
constexpr std::uint64_t kLookNs = 50'000'000;

struct Offer {
  std::uint64_t offset = 0;
  std::uint64_t nonce = 0;
};

bool named_by_parameters(const Comm& comm, const NodeCall& call) {
  const Facts facts{static_cast<int>(comm.size()), call.bytes, call.commutative};
  const auto fits = [&](const Rule& rule) { return rule.algorithm != 0 && rule.fits(call.which, facts); };
  return tuning().forced[static_cast<std::size_t>(call.which)] != 0 ||
         std::any_of(tuning().rules.begin(), tuning().rules.end(), fits);
}

/// Local ranks of these ranks of a communicator; empty unless all are processes of this node and world.
std::vector<std::uint32_t> local_ranks_of(const Comm& comm, std::span<const int> ranks) {
  std::vector<std::uint32_t> result;
  const Runtime& runtime = *Runtime::get();
  const std::vector<std::uint32_t>& here = runtime.place().node_ranks();
  if (ranks.size() > here.size()) return {};
  for (const int rank : ranks) {
    const ProcId proc = comm.group()->at(static_cast<std::uint32_t>(rank));
    const auto at = std::lower_bound(here.begin(), here.end(), proc.rank);
    if (proc.world != runtime.self().world || at == here.end() || *at != proc.rank) return {};
    result.push_back(static_cast<std::uint32_t>(at - here.begin()));
  }
  return result;
}

std::vector<int> all_ranks(const Comm& comm) {
  std::vector<int> ranks(comm.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

const Type& word_type() {
  static const Type type{
      nullptr, sizeof(std::uint32_t), sizeof(std::uint32_t), 0, sizeof(std::uint32_t), true, nullptr};
  return type;
}

void least(const Operator&, const void* in, const void* right, void* out, std::uint64_t, const Type&) {
  *static_cast<std::uint32_t*>(out) =
      std::min(*static_cast<const std::uint32_t*>(right), *static_cast<const std::uint32_t*>(in));
}

}  // namespace

std::vector<std::uint32_t> local_ranks(const Comm& comm) {
  if (comm.size() > Runtime::get()->place().node_ranks().size()) return {};
  return local_ranks_of(comm, all_ranks(comm));
}

/// What members agree on. Those of another node have nothing to do with it.
template <class Build>
int NodeTeam::by_messages(Build&& build) {
  const auto call = [&](Schedule& schedule, const Team&) {
    schedule.among(ranks_);
    build(schedule, Team{static_cast<int>(me_), static_cast<int>(ranks_.size())});
    schedule.among({});
  };
  using Call = decltype(call);
  const auto run = [](void* context, Schedule& schedule, const Team& team) {
    (*static_cast<Call*>(context))(schedule, team);
  };
  const Part part{function_, comm_.next_collective_tag(Comm::Form::node)};
  const PartEnd end = run_part(comm_, part, run, const_cast<std::remove_const_t<Call>*>(&call));
  if (end.lost) lose(end.gone, end.told);
  return end.rc;
}

/// The doorbells of the members.
struct NodeTeam::Bells {
  using Atomics = StdAtomics;
  shm::NodeSegment& segment;
  const std::uint32_t* local_ranks;
  [[nodiscard]] std::uint32_t place(std::uint32_t member) const noexcept { return local_ranks[member]; }
  [[nodiscard]] bool awaits(std::uint32_t member, std::uint32_t what) const noexcept {
    return segment.awaits(local_ranks[member], what);
  }
  void wake(std::uint32_t member) const noexcept { segment.wake(local_ranks[member]); }
};

node::Wakes<NodeTeam::Bells> NodeTeam::wakes() const noexcept {
  return {{Runtime::get()->place().segment(), local_ranks_.data()},
          me_,
          static_cast<std::uint32_t>(ranks_.size())};
}

/// In front of each board.
struct NodeTeam::Header {
  std::atomic<std::uint64_t> nonce;
  std::atomic<std::uint32_t> users;  ///< members that have not freed the communicator
  std::atomic<std::uint32_t> lost;   ///< 1 + a member that has died
  std::byte pad[112];
};

NodeTeam::NodeTeam(Comm& comm, std::vector<int> ranks) : comm_(comm), ranks_(std::move(ranks)) {
  const auto own = std::find(ranks_.begin(), ranks_.end(), static_cast<int>(comm.rank()));
  me_ = static_cast<std::uint32_t>(own - ranks_.begin());
  Runtime& runtime = *Runtime::get();
  if (!runtime.params().boolean(kCollNode)) return;
  if (comm.inter() || ranks_.size() < 2 || ranks_.size() > kMostMembers) return;
  local_ranks_ = local_ranks_of(comm, ranks_);
  if (!local_ranks_.empty()) shapes_ = node::Shapes(local_ranks_.size());
}

NodeTeam::~NodeTeam() {
  if (Runtime::get() == nullptr) return;
  for (Area& area : areas_) give_back(area);
}

NodeTeam* NodeTeam::of(const Form& form, Comm& comm) {
  if (form.kind != Form::Kind::blocking || team_of(comm).hierarchy != nullptr) return nullptr;
  return prepared(form.function, comm);
}

NodeTeam* NodeTeam::prepared(const char* function, Comm& comm) {
  if (comm.node_team == nullptr) {
    const Hierarchy* const hierarchy = team_of(comm).hierarchy;
    const int rank = static_cast<int>(comm.rank());
    comm.node_team = std::make_shared<NodeTeam>(
        comm, hierarchy == nullptr ? all_ranks(comm) : hierarchy->members(hierarchy->node_of(rank)));
  }
  NodeTeam* const team = comm.node_team.get();
  if (team->local_ranks_.empty() || team->calls_ < kCallsBefore) {
    ++team->calls_;
    return nullptr;
  }
  // After a loss the members may have stopped in different rounds: messages report it from now on.
  if (team->lost_ != 0) [[unlikely]]
    return nullptr;
  team->function_ = function;
  team->bytes_ = 0;
  return team;
}

NodeTeam::LocalPeers NodeTeam::local_peers(const char* function, Comm& comm, std::uint64_t bytes,
                                           std::uint64_t cell_bytes, std::uint64_t least_cell) {
  NodeTeam* const team = prepared(function, comm);
  if (team == nullptr) return {};
  return {team,
          bytes == 0 ? team->board_at(node::Shapes::kSmall) : team->board_for(bytes, cell_bytes, least_cell)};
}

node::Board* NodeTeam::board(const Form& form, Comm& comm) {
  NodeTeam* const team = of(form, comm);
  return team == nullptr ? nullptr : team->board_at(node::Shapes::kSmall);
}

node::Board* NodeTeam::board(const Form& form, Comm& comm, const NodeCall& call) {
  NodeTeam* const team = call.bytes == 0 ? nullptr : of(form, comm);
  if (team == nullptr || named_by_parameters(comm, call)) return nullptr;
  return team->board_for(call.bytes, call.cell_bytes, call.least_cell);
}

node::Board* NodeTeam::board_for_vector(const Form& form, Comm& comm, std::uint64_t bytes,
                                        std::uint64_t element_bytes) {
  NodeTeam* const team = bytes == 0 ? nullptr : of(form, comm);
  return team == nullptr ? nullptr : team->board_for(bytes, bytes, element_bytes);
}

node::Board* NodeTeam::board_for_blocks(const Form& form, Comm& comm, bool to_each) {
  if (comm.size() < kLeastForBlocks) return nullptr;
  NodeTeam* const team = of(form, comm);
  const std::uint64_t cell = to_each ? kExchangeCell : kGatherCell;
  if (team == nullptr) return nullptr;
  node::Board* const board = team->board_for(cell, cell, node::least_blocks_cell(comm.size()));
  team->bytes_ = 0;
  return board;
}

node::Board* NodeTeam::board_for(std::uint64_t bytes, std::uint64_t cell_bytes, std::uint64_t least_cell) {
  bytes_ = bytes;
  if (ranks_.size() == 2 && bytes > kMostOfPair) return nullptr;
  const node::Shapes::Index index = shapes_.for_bytes(cell_bytes);
  return least_cell <= shapes_[index].capacity() ? board_at(index) : nullptr;
}

int NodeTeam::ended(Comm& comm, const node::Board& board, bool complete) {
  if (complete && board.equal()) [[likely]]
    return MPI_SUCCESS;
  return comm.node_team->failure(board, complete);
}

int NodeTeam::failure(const node::Board& board, bool complete) const {
  return complete
             ? error_on(comm_, fault_class(pml::Fault::truncated), unequal_text(by_rank(board.difference())))
             : died();
}

node::Difference NodeTeam::by_rank(node::Difference difference) const noexcept {
  if (difference.member >= 0) difference.member = ranks_[static_cast<std::size_t>(difference.member)];
  return difference;
}

int NodeTeam::died() const {
  const bool told = (lost_ & kTold) != 0;
  return error_on(comm_, fault_class(pml::Fault::peer_lost),
                  told ? told_text(lost_rank()) : "rank " + std::to_string(lost_rank()) + " has ended");
}

int NodeTeam::ended_blocks(Comm& comm, const node::BlocksLeft& left, int rc) {
  if (!left.complete) return comm.node_team->died();
  if (rc != MPI_SUCCESS || left.unequal.member < 0) return rc;
  return error_on(comm, fault_class(pml::Fault::truncated), unequal_text(left.unequal));
}

node::Board* NodeTeam::board_at(node::Shapes::Index index) {
  Area& area = areas_[index];
  return area.tried ? area.board.get() : make(area, shapes_[index]);
}

node::Board* NodeTeam::make(Area& area, node::BoardMemory::Shape shape) {
  const auto size = static_cast<std::uint32_t>(ranks_.size());
  area.tried = true;
  area.bytes = sizeof(Header) + node::BoardMemory::bytes(size, shape);
  Offer offer;
  if (me_ == 0 && (offer.offset = reserve(area.bytes)) != 0) {
    auto* const header = new (Runtime::get()->place().segment().at(offer.offset)) Header{};
    offer.nonce = now_ns() | 1;
    header->nonce.store(offer.nonce, std::memory_order_relaxed);
    header->users.store(size, std::memory_order_release);
  }
  const Type bytes{nullptr, 1, 1, 0, 1, true, nullptr};
  const Bcast told{&offer, sizeof offer, bytes, 0};
  const int rc =
      by_messages([&](Schedule& schedule, const Team& team) { coll::bcast(schedule, team, Tuning{}, told); });
  area.offset = rc == MPI_SUCCESS ? offer.offset : 0;
  const bool same = area.offset != 0 && header(area).nonce.load(std::memory_order_relaxed) == offer.nonce;
  if (!same) area.offset = 0;
  if (!agreed(same)) {
    // The memory stays: after a loss local peers may have agreed all the same, and find its mark there.
    area.offset = 0;
    return nullptr;
  }
  std::byte* const base = Runtime::get()->place().segment().at(area.offset) + sizeof(Header);
  if (families_ == nullptr) families_ = std::make_unique<node::FamilyPlan>(plan_families());
  area.board = std::make_unique<node::Board>(node::BoardMemory(base, size, shape), me_, *families_, *this,
                                             Runtime::get()->place().crowded() ? 2 : 200);
  return area.board.get();
}

/// Of members that are enough to need families, each tells where it is bound, and whether it shares its core.
node::FamilyPlan NodeTeam::plan_families() {
  const auto size = static_cast<std::uint32_t>(ranks_.size());
  struct Told {
    std::uint32_t family;
    node::Domains domains;
  };
  const auto wanted = static_cast<std::uint32_t>(Runtime::get()->params().integer(kCollNodeFamily));
  if (wanted == 0 && size <= node::FamilyPlan::kFamily) return node::FamilyPlan(size);
  const bool apart = wanted != 0 || !Runtime::get()->place().crowded();
  const Told mine{wanted != 0 ? wanted
                  : apart     ? node::FamilyPlan::kFamily
                              : node::FamilyPlan::kCrowdedFamily,
                  apart ? hardware::domains() : node::Domains{-1, -1, -1}};
  std::vector<Told> all(size);
  const Type type{nullptr, sizeof mine, sizeof mine, 0, sizeof mine, true, nullptr};
  Gather asked;
  asked.send = &mine;
  asked.count = 1;
  asked.type = type;
  asked.receive = Blocks(all.data(), 1, type);
  const int rc = by_messages(
      [&](Schedule& schedule, const Team& team) { coll::allgather(schedule, team, Tuning{}, asked); });
  if (rc != MPI_SUCCESS) return node::FamilyPlan(size);
  std::uint32_t family = mine.family;
  std::vector<node::Domains> domains;
  for (const Told& told : all) {
    family = std::min(family, told.family);
    domains.push_back(told.domains);
  }
  return node::FamilyPlan(domains, family);
}

/// Cleared memory for a board, or 0.
std::uint64_t NodeTeam::reserve(std::size_t bytes) {
  shm::NodeSegment& segment = Runtime::get()->place().segment();
  const auto most = static_cast<std::uint64_t>(Runtime::get()->params().integer(kCollNodeTotal));
  if (segment.arena_used() + bytes > most) return 0;
  const auto offset = segment.allocate(bytes);
  if (!offset) return 0;
  std::memset(segment.at(*offset), 0, bytes);
  return *offset;
}

bool NodeTeam::agreed(bool here) {
  std::uint32_t mine = here ? 1 : 0, all = 0;
  Reduce asked;
  asked.send = &mine;
  asked.receive = &all;
  asked.count = 1;
  asked.type = word_type();
  asked.operation = {least, nullptr, true};
  const int rc = by_messages(
      [&](Schedule& schedule, const Team& team) { coll::allreduce(schedule, team, Tuning{}, asked); });
  return rc == MPI_SUCCESS && all != 0;
}

NodeTeam::Header& NodeTeam::header(const Area& area) const noexcept {
  return *reinterpret_cast<Header*>(Runtime::get()->place().segment().at(area.offset));
}

void NodeTeam::give_back(Area& area) noexcept {
  if (area.board == nullptr) return;
  // The last one sees all that the others did with the memory before.
  if (header(area).users.fetch_sub(1, std::memory_order_acq_rel) == 1)
    Runtime::get()->place().segment().release(area.offset, area.bytes);
}

bool NodeTeam::wait(Ready ready, void* context, std::uint32_t member) {
  const auto what = [&] {
    const std::string who = member == me_ ? "the other ranks" : "rank " + std::to_string(ranks_[member]);
    const std::string amount = bytes_ == 0 ? "" : " of " + std::to_string(bytes_) + " bytes";
    return std::string(function_) + amount + " on " + comm_.label() + ": waits for " + who;
  };
  const Waiting waiting(what);
  std::uint64_t next_look = now_ns() + kLookNs;
  bool done = false;
  Runtime::get()->waits().set_awaited(wakes().awaited(member));
  Runtime::get()->waits().wait([&] {
    done = ready(context);
    if (done) return true;
    const std::uint64_t now = now_ns();
    if (now < next_look) return false;
    next_look = now + kLookNs;
    return somebody_died();
  });
  Runtime::get()->waits().set_awaited(shm::kAwaitsNothing);
  return done;
}

bool NodeTeam::somebody_died() noexcept {
  const auto made = [](const Area& area) { return area.board != nullptr; };
  std::atomic<std::uint32_t>& lost = header(*std::find_if(areas_.begin(), areas_.end(), made)).lost;
  if (lost_ == 0) lost_ = lost.load(std::memory_order_relaxed);
  for (std::uint32_t member = 0; lost_ == 0 && member < local_ranks_.size(); ++member) {
    if (member == me_ || Runtime::get()->place().segment().alive(local_ranks_[member])) continue;
    lost_ = static_cast<std::uint32_t>(ranks_[member]) + 1;
    lost.store(lost_, std::memory_order_relaxed);
  }
  return lost_ != 0;
}

void NodeTeam::lose(int rank, bool told) noexcept {
  if (lost_ == 0) lost_ = (static_cast<std::uint32_t>(rank) + 1) | (told ? kTold : 0);
  for (const Area& area : areas_) {  // also one that is being made, which local peers may have already
    if (area.offset != 0) header(area).lost.store(lost_, std::memory_order_relaxed);
  }
}

void NodeTeam::posted() noexcept { wakes().posted(); }
void NodeTeam::posted(std::uint32_t reader) noexcept { wakes().posted(reader); }
bool NodeTeam::finish_awaited() noexcept { return wakes().finish_awaited(); }
bool NodeTeam::finish_awaited(std::uint32_t writer) noexcept { return wakes().finish_awaited(writer); }
void NodeTeam::finished() noexcept { wakes().finished(); }

}  // namespace starling::mpi::coll
