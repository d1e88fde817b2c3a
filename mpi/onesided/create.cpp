// SPDX-License-Identifier: BSD-3-Clause
// Making windows. What is hard: whatever fails on one member, the others are in the same exchanges, and must
// come to the same end. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/create.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

#include "mpi/creation/exchange.hpp"
#include "mpi/creation/factory.hpp"
#include "mpi/error.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/onesided/domain_memory.hpp"
#include "mpi/onesided/hints.hpp"
#include "mpi/onesided/part.hpp"
#include "mpi/onesided/port.hpp"
#include "mpi/onesided/proposal.hpp"
#include "mpi/onesided/reach.hpp"
#include "mpi/onesided/synchronise.hpp"
#include "mpi/runtime/params.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

constexpr MPI_Aint kMostBytes = MPI_Aint{1} << 47;

/// MPI_SUCCESS, or what is wrong with this member's arguments.
int check(const WinRequest& request) {
  if (request.size < 0) {
    return error(MPI_ERR_SIZE, "size is " + std::to_string(request.size) + ", expected 0 or more");
  }
  if (request.size > kMostBytes) {
    return error(MPI_ERR_NO_MEM, "size is " + std::to_string(request.size) + ", more than can be addressed");
  }
  if (request.unit <= 0 || request.unit > 0x7fffffff) {
    return error(MPI_ERR_DISP, "disp_unit is " + std::to_string(request.unit) + ", expected 1..2147483647");
  }
  if (request.flavor == MPI_WIN_FLAVOR_CREATE && request.base == nullptr && request.size > 0) {
    return error(MPI_ERR_ARG, "base is NULL, and size is " + std::to_string(request.size));
  }
  return MPI_SUCCESS;
}

class Creation {
 public:
  Creation(Comm& parent, const WinRequest& request)
      : parent_(parent),
        request_(request),
        choice_(request.flavor == MPI_WIN_FLAVOR_SHARED
                    ? PathChoice::automatic
                    : Runtime::get()->params().choice<PathChoice>(kOnesidedPath)),
        local_peers_(local_peers_of(parent, by_messages())) {}

  ~Creation();
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;
  [[nodiscard]] MadeWin run();

 private:
  /// Everybody is elsewhere: each member is a domain of its own. The same on all members.
  [[nodiscard]] bool by_messages() const noexcept { return choice_ == PathChoice::message; }
  /// Memory of other processes is copied even where it could be mapped.
  [[nodiscard]] bool by_copies() const noexcept { return choice_ == PathChoice::copy; }
  [[nodiscard]] bool brings_memory() const noexcept {
    return request_.flavor == MPI_WIN_FLAVOR_CREATE || request_.flavor == MPI_WIN_FLAVOR_DYNAMIC;
  }
  /// Local peers may have the kernel copy to a part of it, whose place is known. The same on all members.
  [[nodiscard]] bool copies() const noexcept {
    return request_.flavor == MPI_WIN_FLAVOR_CREATE || (by_copies() && !brings_memory());
  }
  [[nodiscard]] Control::More more() const {
    return {request_.flavor == MPI_WIN_FLAVOR_DYNAMIC, copies(),
            Runtime::get()->params().boolean(kOnesidedCheck)};
  }
  [[nodiscard]] std::size_t control_bytes() const {
    return Control::bytes(static_cast<std::uint32_t>(local_peers_.domain.local_peers.size()), more());
  }
  [[nodiscard]] Proposal own_proposal();
  [[nodiscard]] int exchange();
  [[nodiscard]] int agreed() const;
  [[nodiscard]] Result<void> have_memory(DomainMemory& memory, WinParts& parts);
  [[nodiscard]] Result<void> tell_addresses(const DomainMemory& memory, Result<void> here);
  [[nodiscard]] int set_up(Win& win);
  [[nodiscard]] int set_up(Win& win, DomainMemory& memory);
  [[nodiscard]] int all_have(Result<void> here, bool by_message, bool& anybody);
  [[nodiscard]] int tell_why(Result<void> here, std::uint32_t first);
  [[nodiscard]] int get_help(Win& win) const;
  void expose(Win& win, const Target& own);
  void do_active_messages(Win& win) const;
  [[nodiscard]] int exchange_keys(Win& win);

  Comm& parent_;
  const WinRequest& request_;
  PathChoice choice_;
  LocalPeers local_peers_;
  Proposals proposals_;
  Comm* comm_ = nullptr;
  ControlExtent::Offer reserved_;            // that nobody has joined
  std::unique_ptr<message::Native> native_;  // this member's part is exposed to a network
  bool keys_ = false;                        // some member's is
};

Creation::~Creation() { ControlExtent::cancel(reserved_, control_bytes()); }

Proposal Creation::own_proposal() {
  Proposal mine;
  mine.size = static_cast<std::uint64_t>(std::max<MPI_Aint>(request_.size, 0));
  mine.unit = static_cast<std::int32_t>(request_.unit);
  mine.alignment = static_cast<std::uint16_t>(wanted_alignment(request_.info));
  mine.elsewhere = local_peers_.domain.local_peers.size() == parent_.size() ? 0 : 1;
  mine.no_locks = wants_no_locks(request_.info) ? 1 : 0;
  mine.noncontiguous = wants_noncontiguous(request_.info) ? 1 : 0;
  if (request_.flavor == MPI_WIN_FLAVOR_CREATE) {
    mine.address = reinterpret_cast<std::uintptr_t>(request_.base);
    mine.object = Runtime::get()->allocated_memory().object_of(request_.base, mine.size).value_or(0);
  }
  if (brings_memory() || by_copies()) mine.probe = own_probe();
  const bool first = local_peers_.domain.seat == 0;
  const auto local_peers = static_cast<std::uint32_t>(local_peers_.domain.local_peers.size());
  if (brings_memory() && first && local_peers > 1)
    mine.control = reserved_ =
        ControlExtent::reserve(control_bytes(), Control::cleared_bytes(local_peers, more()), local_peers);
  mine.needs_object = local_peers > 1 && (!brings_memory() || (first && mine.control.offset == 0)) ? 1 : 0;
  return mine;
}

/// Tells all what this member wants, and finds out whether anybody cannot take part.
int Creation::exchange() {
  Proposal mine = own_proposal();
  int own = check(request_);
  if (parent_.rank() == 0 && own == MPI_SUCCESS) {
    Result<ContextId> fresh = Runtime::get()->bootstrap().next_context_id();
    own = fresh ? MPI_SUCCESS : error(fresh.error());
    if (fresh) mine.id = *fresh;
  }
  const std::string why(own == MPI_SUCCESS ? std::string_view() : last_error_detail());
  mine.refused = static_cast<std::int16_t>(own);
  proposals_.resize(parent_.size());
  const int rc = allgather_bytes(parent_, bytes_of(mine), std::as_writable_bytes(std::span(proposals_)));
  if (rc != MPI_SUCCESS) return rc;
  return own != MPI_SUCCESS ? error(own, why) : agreed();
}

/// Whether there will be a window: the same on all members.
int Creation::agreed() const {
  for (std::uint32_t rank = 0; rank < parent_.size(); ++rank) {
    if (proposals_[rank].refused == MPI_SUCCESS) continue;
    return error(proposals_[rank].refused, "rank " + std::to_string(rank) + " has refused its arguments");
  }
  const bool apart = std::any_of(proposals_.begin(), proposals_.end(),
                                 [](const Proposal& proposal) { return proposal.elsewhere != 0; });
  if (apart && request_.flavor == MPI_WIN_FLAVOR_SHARED) {
    return error(MPI_ERR_RMA_SHARED,
                 "comm has members that share no memory; expected one of MPI_Comm_split_type with "
                 "MPI_COMM_TYPE_SHARED");
  }
  return MPI_SUCCESS;
}

/// The domain's control words, and its part of an allocated window.
Result<void> Creation::have_memory(DomainMemory& memory, WinParts& parts) {
  const bool objects = std::any_of(proposals_.begin(), proposals_.end(),
                                   [](const Proposal& proposal) { return proposal.needs_object != 0; });
  const ControlExtent::Offer& offer = proposals_[local_peers_.domain.local_peers[0]].control;
  if (offer.offset != 0) {
    reserved_ = {};
    Result<void> stood_by;
    if (objects) stood_by = memory.stand_by();
    if (!stood_by) return stood_by;
    auto joined = ControlExtent::join(offer, control_bytes());
    if (!joined) return fail(std::move(joined).error());
    parts.extent = std::move(*joined);
    return {};
  }
  if (brings_memory()) {
    memory.lay_out_control();
  } else {
    const bool contiguous = request_.flavor == MPI_WIN_FLAVOR_SHARED &&
                            std::none_of(proposals_.begin(), proposals_.end(), [](const Proposal& proposal) {
                              return proposal.noncontiguous != 0;
                            });
    parts.contiguous = contiguous;
    memory.lay_out(proposals_, contiguous);
  }
  return objects ? memory.share() : memory.make_alone();
}

/// Of an allocated window, for those who copy: where each member's part lies in its own process.
Result<void> Creation::tell_addresses(const DomainMemory& memory, Result<void> here) {
  std::uint64_t mine =
      here ? reinterpret_cast<std::uintptr_t>(memory.part(local_peers_.domain.seat)) : std::uint64_t{0};
  std::vector<std::uint64_t> all(comm_->size());
  const int rc = allgather_bytes(*comm_, bytes_of(mine), std::as_writable_bytes(std::span(all)));
  if (rc != MPI_SUCCESS) return fail(Errc::peer_lost, "window", std::string(last_error_detail()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) proposals_[rank].address = all[rank];
  return here;
}

int Creation::set_up(Win& win) {
  DomainMemory memory(*comm_, local_peers_.domain, local_peers_.local_ranks, more());
  const int rc = set_up(win, memory);
  native_.reset();  // if the window has not taken it: it goes before the memory that it has registered
  return rc;
}

/// Memory and paths, and whether all members have them.
int Creation::set_up(Win& win, DomainMemory& memory) {
  WinParts parts;
  Result<void> here = have_memory(memory, parts);
  const bool copied = by_copies() && !brings_memory();
  if (copied && comm_->size() > 1) here = tell_addresses(memory, std::move(here));
  if (here)
    parts.targets =
        reach({request_.flavor, comm_->rank(), choice_, proposals_, local_peers_, memory}, parts.mapped);
  if (here && request_.flavor == MPI_WIN_FLAVOR_DYNAMIC)
    parts.near = near_ways(parts.targets, comm_->rank(), proposals_, local_peers_);
  // Others may send as soon as they know that all members are ready: so this one is before it says so.
  const bool by_message = std::any_of(parts.targets.begin(), parts.targets.end(),
                                      [](const Target& target) { return target.path == Path::message; });
  const bool may_come = request_.flavor == MPI_WIN_FLAVOR_CREATE || copied || by_message;
  if (here && may_come && comm_->size() > 1) {
    win.part = std::make_unique<message::Part>(win);
    here = message::Port::get().add(win);
  }
  if (here && by_message && !by_messages()) expose(win, parts.targets[comm_->rank()]);
  bool anybody = false;
  const int rc = all_have(std::move(here), by_message, anybody);
  memory.close();
  if (rc != MPI_SUCCESS) return rc;
  parts.control = memory.take();
  if (ControlExtent small = memory.take_extent(); small.data() != nullptr) parts.extent = std::move(small);
  parts.domain = std::move(local_peers_.domain);
  win.take(std::move(parts), more());
  do_active_messages(win);
  if (!anybody) win.part.reset();
  if (const int exchanged = keys_ && win.part ? exchange_keys(win) : MPI_SUCCESS; exchanged != MPI_SUCCESS)
    return exchanged;
  if (!win.part) return MPI_SUCCESS;
  if (const int helped = get_help(win); helped != MPI_SUCCESS) return helped;
  win.part->start();
  return MPI_SUCCESS;
}

/// Where local peers are not crowded: who waits on a shared core does not look while others ask.
void Creation::do_active_messages(Win& win) const {
  if (!copies() || win.domain().local_peers.size() < 2 || Runtime::get()->place().crowded()) return;
  win.active_messages = std::make_unique<ActiveMessages>(win);
  const bool mapped = proposals_[win.rank()].object != 0 && !by_copies();
  if (win.own().size != 0 && !mapped) win.active_messages->serve();
}

/// Networks that can write to this member's memory and read it are told where it is.
void Creation::expose(Win& win, const Target& own) {
  if (own.base == nullptr || own.size == 0 || request_.flavor == MPI_WIN_FLAVOR_DYNAMIC) return;
  auto native = std::make_unique<message::Native>(win);
  if (native->expose({own.base, own.size})) native_ = std::move(native);
}

/// All members, if one of them has exposed something.
int Creation::exchange_keys(Win& win) {
  if (native_ == nullptr) native_ = std::make_unique<message::Native>(win);
  std::vector<message::NativeKey> keys(comm_->size());
  const int rc =
      allgather_bytes(*comm_, bytes_of(native_->own_key()), std::as_writable_bytes(std::span(keys)));
  if (rc != MPI_SUCCESS) return on_window(rc);
  native_->take(std::move(keys));
  win.part->use(std::move(native_));
  return MPI_SUCCESS;
}

/// A thread serves the others while the program computes, unless all members have said that nobody locks.
int Creation::get_help(Win& win) const {
  if (std::all_of(proposals_.begin(), proposals_.end(),
                  [](const Proposal& proposal) { return proposal.no_locks != 0; }))
    return MPI_SUCCESS;
  auto need = Runtime::get()->background().need("windows with members that are reached by messages");
  if (!need) return error(need.error());
  win.part->keep(std::move(*need));
  return MPI_SUCCESS;
}

/// Until everybody has it, memory stays where others can ask for it.
/// `anybody`: some member sends messages. Over the communicator that the program has used before, and so may
/// have a board.
int Creation::all_have(Result<void> here, bool by_message, bool& anybody) {
  constexpr std::uint8_t kHere = 1, kMessages = 2, kExposes = 4;
  std::vector<std::uint8_t> all(comm_->size());
  const auto mine = static_cast<std::uint8_t>((here ? kHere : 0) | (by_message ? kMessages : 0) |
                                              (native_ != nullptr ? kExposes : 0));
  if (comm_->size() > 1) {
    const int rc =
        allgather_bytes(parent_, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    if (rc != MPI_SUCCESS) return on_window(rc);
  } else {
    all[0] = mine;
  }
  keys_ = std::any_of(all.begin(), all.end(), [](std::uint8_t one) { return (one & kExposes) != 0; });
  anybody = std::any_of(all.begin(), all.end(), [](std::uint8_t one) { return (one & kMessages) != 0; });
  const auto without =
      std::find_if(all.begin(), all.end(), [](std::uint8_t one) { return (one & kHere) == 0; });
  if (without == all.end()) return MPI_SUCCESS;
  return tell_why(std::move(here), static_cast<std::uint32_t>(without - all.begin()));
}

/// Some member does not have it: `first`, whose cause all members name, since any of them may be the first to
/// end the job.
int Creation::tell_why(Result<void> here, std::uint32_t first) {
  constexpr std::size_t kLongest = 512;
  std::array<char, kLongest> mine{};
  if (!here) here.error().text().copy(mine.data(), kLongest - 1);
  std::vector<std::array<char, kLongest>> all(comm_->size());
  const int rc = comm_->size() > 1 ? allgather_bytes(parent_, std::as_bytes(std::span(mine)),
                                                     std::as_writable_bytes(std::span(all)))
                                   : MPI_SUCCESS;
  if (!here && comm_->rank() == first) return error(here.error());
  return error(MPI_ERR_NO_MEM,
               "rank " + std::to_string(first) + " cannot have the window's memory" +
                   (rc == MPI_SUCCESS ? ": " + std::string(all[first].data()) : std::string()));
}

MadeWin Creation::run() {
  if (const int rc = exchange(); rc != MPI_SUCCESS) return {rc, nullptr};
  const Made made =
      CommFactory::finish(proposals_[0].id, {parent_.group(), {}, parent_.rank()}, &parent_, parent_.session);
  if (made.comm == nullptr) return {made.error_class, nullptr};
  comm_ = made.comm;
  Ref<Win> win = Ref<Win>::adopt(new Win(*comm_, request_.flavor));  // frees the communicator
  if (const int rc = set_up(*win); rc != MPI_SUCCESS) return {rc, nullptr};
  win->errhandler = Ref<Errhandler>::share(tables().errhandler.find(MPI_ERRORS_ARE_FATAL));
  win->info = known_window_hints(request_.info);
  if (Runtime::get()->params().boolean(kOnesidedCheck)) win->overlaps = std::make_unique<Overlaps>(*win);
  if (tables().win.insert(win.get()) == 0) {
    return {too_many("windows"), nullptr};
  }
  return {MPI_SUCCESS, win.release()};
}

}  // namespace

MadeWin make_window(Comm& parent, const WinRequest& request) {
  if (parent.inter()) {
    return {error(MPI_ERR_COMM, "comm is an intercommunicator, an intracommunicator was expected"), nullptr};
  }
  const Ref<Comm> kept = Ref<Comm>::share(&parent);  // another thread may free it while this one waits
  return Creation(parent, request).run();
}

int free_window(Win& win, bool& freed) {
  freed = false;
  if (const int rc = none_open(win); rc != MPI_SUCCESS) return rc;
  if (const int rc = win.attributes.clear(win.handle()); rc != MPI_SUCCESS) return rc;
  const Ref<Win> kept = Ref<Win>::share(&win);
  // Also without a member that has died: its error could not be raised on what is gone. Others may not have
  // come yet, and need this process for its part.
  const int met = member_barrier(win, names::Win_free);
  if (win.part && met != MPI_SUCCESS) {
    win.part->leave_with_the_living();
  } else if (win.part) {
    win.part->answer_leaving();
  }
  freed = true;
  tables().win.remove(win.handle());
  win.drop();
  return MPI_SUCCESS;
}

}  // namespace starling::mpi
