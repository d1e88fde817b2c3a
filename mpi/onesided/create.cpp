// SPDX-License-Identifier: BSD-3-Clause
// Making windows. What is hard: whatever fails on one member, the others are in the same exchanges, and must
// come to the same end. Layer: mpi. docs/design/onesided.md

#include "mpi/onesided/create.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "frameworks/shm/memory/maps.hpp"
#include "frameworks/shm/memory/object.hpp"
#include "mpi/creation/exchange.hpp"
#include "mpi/creation/factory.hpp"
#include "mpi/error.hpp"
#include "mpi/launch/node_team.hpp"
#include "mpi/names.gen.hpp"
#include "mpi/onesided/hints.hpp"
#include "mpi/onesided/synchronise.hpp"
#include "mpi/runtime/runtime.hpp"

namespace starling::mpi {
namespace {

/// Parts of allocated windows begin on cache lines of their own, and pages of their own if they fill some:
/// so who writes a page first decides where it lies.
constexpr std::uint64_t kLine = 128, kPage = 4096;
constexpr MPI_Aint kMostBytes = MPI_Aint{1} << 47;

/// What a member tells the others.
struct Wish {
  ContextId id;  ///< of rank 0: that of the private communicator
  std::uint64_t size = 0;
  std::int64_t unit = 1;
  std::uint32_t alignment = 1;
  std::int16_t refused = MPI_SUCCESS;  ///< why it cannot take part
  std::uint8_t elsewhere = 0;          ///< some member is not on its node
  std::uint8_t noncontiguous = 0;
};
static_assert(sizeof(Wish) == 32);

/// Where rank 0 has the memory; bytes 0: nowhere.
struct Offer {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

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
  return MPI_SUCCESS;
}

class Creation {
 public:
  Creation(Comm& parent, const WinRequest& request)
      : parent_(parent), request_(request), places_(coll::local_ranks(parent)) {}

  [[nodiscard]] MadeWin run();

 private:
  [[nodiscard]] int exchange();
  void lay_out();
  [[nodiscard]] Result<void> get_memory();
  [[nodiscard]] Result<void> get_from_first(const Offer& offer);
  [[nodiscard]] int share_memory(std::string& why);
  [[nodiscard]] std::vector<Target> targets() const;

  Comm& parent_;
  const WinRequest& request_;
  std::vector<std::uint32_t> places_;
  std::vector<Wish> wishes_;
  std::vector<std::uint64_t> offsets_;
  std::uint64_t bytes_ = 0;
  Comm* comm_ = nullptr;
  Mapping mapping_;
};

/// Tells all what this member wants, and finds out whether anybody cannot take part.
int Creation::exchange() {
  Wish mine;
  mine.size = static_cast<std::uint64_t>(std::max<MPI_Aint>(request_.size, 0));
  mine.unit = request_.unit;
  mine.alignment = static_cast<std::uint32_t>(wanted_alignment(request_.info));
  mine.elsewhere = places_.empty() ? 1 : 0;
  mine.noncontiguous = wants_noncontiguous(request_.info) ? 1 : 0;
  int own = check(request_);
  if (parent_.rank() == 0 && own == MPI_SUCCESS) {
    Result<ContextId> fresh = Runtime::get()->bootstrap().next_context_id();
    own = fresh ? MPI_SUCCESS : error(fresh.error());
    if (fresh) mine.id = *fresh;
  }
  const std::string why(own == MPI_SUCCESS ? std::string_view() : last_error_detail());
  mine.refused = static_cast<std::int16_t>(own);
  wishes_.resize(parent_.size());
  const int rc = allgather_bytes(parent_, bytes_of(mine), std::as_writable_bytes(std::span(wishes_)));
  if (rc != MPI_SUCCESS) return rc;
  if (own != MPI_SUCCESS) return error(own, why);
  for (std::uint32_t rank = 0; rank < parent_.size(); ++rank) {
    if (wishes_[rank].refused == MPI_SUCCESS) continue;
    return error(wishes_[rank].refused, "rank " + std::to_string(rank) + " has refused its arguments");
  }
  const bool apart =
      std::any_of(wishes_.begin(), wishes_.end(), [](const Wish& wish) { return wish.elsewhere != 0; });
  if (!apart) return MPI_SUCCESS;
  if (request_.flavor == MPI_WIN_FLAVOR_SHARED) {
    return error(MPI_ERR_RMA_SHARED,
                 "comm has members that share no memory; expected one of MPI_Comm_split_type with "
                 "MPI_COMM_TYPE_SHARED");
  }
  return error(MPI_ERR_UNSUPPORTED_OPERATION,
               "comm has members that share no memory, and Starling has no windows over several nodes yet");
}

/// Where each part lies in the object, behind the control words. Contiguous parts follow each other without
/// a gap (section 12.2.3).
void Creation::lay_out() {
  const auto up = [](std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; };
  bool contiguous = request_.flavor == MPI_WIN_FLAVOR_SHARED;
  for (const Wish& wish : wishes_) contiguous = contiguous && wish.noncontiguous == 0;
  std::uint64_t at = up(Control::bytes(parent_.size()), kPage);
  for (const Wish& wish : wishes_) {
    if (!contiguous) at = up(at, std::max<std::uint64_t>(wish.alignment, wish.size >= kPage ? kPage : kLine));
    offsets_.push_back(at);
    at += wish.size;
  }
  bytes_ = at;
}

Result<void> Creation::get_from_first(const Offer& offer) {
  Runtime& runtime = *Runtime::get();
  shm::MemoryMaps maps(runtime.place().segment(), 1, Access::read_write);
  auto mapping = maps.fetch(places_[0], offer.address, offer.bytes);
  if (!mapping) return fail(std::move(mapping).error());
  mapping_ = std::move(*mapping);
  return {};
}

/// Of a window with one member.
Result<void> Creation::get_memory() {
  auto made = shm::MemoryObject::create(bytes_);
  if (!made) return fail(std::move(made).error());
  mapping_ = std::move(*made).keep_mapping();
  return {};
}

/// Rank 0 makes the memory, the others map it. Returns whether this member has it; `why` not.
int Creation::share_memory(std::string& why) {
  Runtime& runtime = *Runtime::get();
  Offer offer;
  Result<void> got;
  std::byte* base = nullptr;
  if (comm_->rank() == 0) {
    auto made = runtime.allocated_memory().offer(bytes_);
    if (made) {
      base = *made;
      offer = {reinterpret_cast<std::uintptr_t>(base), bytes_};
    } else {
      got = fail(std::move(made).error());
    }
  }
  int rc = bcast_bytes(*comm_, bytes_of(offer), 0);
  if (rc == MPI_SUCCESS && offer.bytes != 0 && base == nullptr) got = get_from_first(offer);
  const bool here = rc == MPI_SUCCESS && got && offer.bytes != 0;
  if (!got) why = got.error().text();
  // Until everybody has it, rank 0 keeps the object where others can ask for it.
  std::vector<std::uint8_t> all(comm_->size());
  const std::uint8_t mine = here ? 1 : 0;
  if (rc == MPI_SUCCESS) {
    rc = allgather_bytes(*comm_, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  }
  if (base != nullptr) mapping_ = runtime.allocated_memory().withdraw(base);
  if (rc != MPI_SUCCESS) return on_window(rc);
  const auto without = std::find(all.begin(), all.end(), 0);
  if (without == all.end()) return MPI_SUCCESS;
  if (why.empty()) why = "rank " + std::to_string(without - all.begin()) + " cannot have the window's memory";
  return MPI_ERR_NO_MEM;
}

std::vector<Target> Creation::targets() const {
  std::vector<Target> result(wishes_.size());
  for (std::size_t rank = 0; rank < wishes_.size(); ++rank) {
    result[rank] = {mapping_.data() + offsets_[rank], wishes_[rank].size, wishes_[rank].unit, places_[rank]};
  }
  return result;
}

MadeWin Creation::run() {
  if (const int rc = exchange(); rc != MPI_SUCCESS) return {rc, nullptr};
  const Made made =
      CommFactory::finish(wishes_[0].id, {parent_.group(), {}, parent_.rank()}, &parent_, parent_.session);
  if (made.comm == nullptr) return {made.error_class, nullptr};
  comm_ = made.comm;
  Ref<Win> win = Ref<Win>::adopt(new Win(*comm_, request_.flavor));  // frees the communicator
  lay_out();
  std::string why;
  if (comm_->size() == 1) {
    if (auto got = get_memory(); !got) return {error(got.error()), nullptr};
  } else if (const int rc = share_memory(why); rc != MPI_SUCCESS) {
    return {why.empty() ? rc : error(rc, why), nullptr};
  }
  win->take_memory(std::move(mapping_), targets());
  win->errhandler = Ref<Errhandler>::share(tables().errhandler.find(MPI_ERRORS_ARE_FATAL));
  win->info = known_window_hints(request_.info);
  if (tables().win.insert(win.get()) == 0) {
    return {error(MPI_ERR_INTERN, "more than 2^25 windows are alive"), nullptr};
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
  // Also without a member that has died: its error could not be raised on what is gone.
  (void)member_barrier(win, names::Win_free);
  freed = true;
  tables().win.remove(win.handle());
  win.drop();
  return MPI_SUCCESS;
}

}  // namespace starling::mpi
