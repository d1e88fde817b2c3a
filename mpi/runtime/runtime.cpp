// SPDX-License-Identifier: BSD-3-Clause
// Building the runtime. What is hard: nothing here may be collective or of the size of the job, and every
// refusal must say why. The order of steps is that of docs/design/ARCHITECTURE.md, "How a job starts".
// Layer: mpi.

#include "mpi/runtime/runtime.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "core/clock.hpp"
#include "core/log.hpp"
#include "core/standard_descriptors.hpp"
#include "frameworks/bootstrap/params.hpp"
#include "frameworks/pmi/launchers.hpp"
#include "frameworks/stuck.hpp"
#include "mpi/coll/tuning.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/abort.hpp"
#include "mpi/runtime/node_identity.hpp"
#include "mpi/runtime/self.hpp"
#include "mpi/runtime/waiting.hpp"
#include "params/core_params.hpp"

namespace starling::mpi {

namespace {

/// How long exit() waits for threads that are in MPI and do not come to a place where they could stop.
constexpr std::uint64_t kExitNs = 1'000'000'000;

constexpr std::uint64_t kDrainNoticeNs = 10'000'000'000;

constexpr auto kCreation = static_cast<std::uint8_t>(peer::wire::Kind::creation);

}  // namespace

Runtime* Runtime::instance_ = nullptr;

ProcId self_proc() noexcept { return Runtime::get() == nullptr ? ProcId{} : Runtime::get()->self(); }

Result<Runtime*> Runtime::ensure() {
  static std::mutex mutex;  // MPI_Session_init may be called by several threads before any lock is on
  static std::optional<Error> failure;
  const std::scoped_lock lock(mutex);
  if (instance_ != nullptr) return instance_;
  if (failure) return fail(*failure);
  auto built = build();
  if (!built) {
    failure = built.error();
    return fail(std::move(built).error());
  }
  instance_ = std::move(built).value().release();
  std::atexit(&Runtime::at_exit);
  std::at_quick_exit(&Runtime::at_quick_exit);
  return instance_;
}

Runtime::Runtime(Environment& environment, plugin::Index::Handle<pmi::Framework> pmi) noexcept
    : environment_(environment),
      pid_(::getpid()),
      pmi_(std::move(pmi)),
      place_(environment, *pmi_),
      waits_(place_, *pmi_, progress_thread_),
      fences_(*pmi_, *this),
      background_(environment.params, place_, waits_, progress_thread_) {
  note_for_abort(pmi_.get());
  if (pmi_->wait_fd() >= 0) pmi::leave_mark();  // a process manager serves this process, but not its children
  if (place_.world_size() > 1) log::set_prefix("[starling rank " + std::to_string(self().rank) + "]");
}

Result<std::unique_ptr<Runtime>> Runtime::build() {
  const std::uint64_t begin = now_ns();
  fill_standard_descriptors(Filling::refuses);  // or the segment becomes what the program prints into
  auto environment = mpi::environment();
  if (!environment) return fail(std::move(environment).error());
  const std::uint64_t read = now_ns();
  plugin::set_end_of_stuck(&end_stuck);
  auto pmi = (*environment)->plugins.create_first<pmi::Framework>({(*environment)->params});
  if (!pmi) return fail(std::move(pmi).error());
  std::unique_ptr<Runtime> runtime(new Runtime(**environment, std::move(*pmi)));
  runtime->phases_.add("parameters and plugin index", read - begin);
  runtime->phases_.add("process manager", now_ns() - read);
  if (auto started = runtime->start(); !started) {
    keep_for_abort(std::move(runtime->pmi_));
    return fail(std::move(started).error());
  }
  return runtime;
}

Result<void> Runtime::start() {
  struct Step {
    const char* name;
    Result<void> (Runtime::*run)();
  };
  static constexpr Step kSteps[] = {
      {"parameter check", &Runtime::check_parameters}, {"place on the node", &Runtime::find_place},
      {"shared segment", &Runtime::attach_segment},    {"pml and transports", &Runtime::create_transports},
      {"bootstrap", &Runtime::create_bootstrap},
  };
  for (const Step& step : kSteps) {
    if (auto done = phases_.time(step.name, [&] { return (this->*step.run)(); }); !done) return done;
  }
  return {};
}

Result<void> Runtime::check_parameters() {
  if (auto tuning = coll::Tuning::from(environment_.params); !tuning) return fail(std::move(tuning).error());
  auto unknown = params::unknown_names(environment_.params);
  if (!unknown) return fail(std::move(unknown).error());
  if (self().rank != 0) return {};  // once per job
  for (const std::string& line : *unknown) log::warning(line);
  const auto places = params::Places::of_this_process(environment_.prefix);
  for (const std::string& line : params::files_not_read(places)) log::warning(line);
  for (const std::string& line : environment_.plugins.refused_directories())
    log::warning("plugin directory not searched: " + line);
  return {};
}

Result<void> Runtime::find_place() {
  auto found = place_.find();
  if (place_.alone()) placed_ = Placed::alone;
  return found;
}

Result<void> Runtime::attach_segment() {
  if (auto attached = place_.attach(); !attached) return attached;
  settle();
  return {};
}

/// Tells those who work on the node's memory which one it is.
void Runtime::settle() {
  waits_.suit_place(params());
  const auto shared_min = static_cast<std::uint64_t>(params().integer(kAllocMemSharedMin));
  allocated_memory_.share_in(place_.segment(), shared_min);
}

Result<void> Runtime::create_bootstrap() {
  store_.emplace(place_.segment_pointer());
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  terms_ = bootstrap::Terms::of(environment_.params,
                                "Starling " STARLING_VERSION ", built with " STARLING_COMPILER,
                                "rank " + std::to_string(self().rank) + " of " + host);
  // Members whom only a network reaches meet as if each had a node of its own: their addresses go around.
  if (!near_reaches_node_)
    lone_nodes_.emplace(NodeMap(std::vector<NodeMap::Block>{{0, place_.world_size(), 1}}));
  const NodeMap* const nodes = lone_nodes_ ? &*lone_nodes_ : &place_.nodes();
  auto made = environment_.plugins.create_first<bootstrap::Framework>(
      {environment_.params, *pmi_, *this, self(), place_.world_size(),
       place_.world_size() == 1 ? nullptr : nodes, lone_nodes_ ? nullptr : &*store_, &terms_},
      &bootstrap_name_);
  if (!made) return fail(std::move(made).error());
  bootstrap_ = std::move(*made);
  peers().set_address_book(bootstrap_.get());
  return {};
}

Result<void> Runtime::send(ProcId to, std::span<const std::byte> message) {
  auto& sent = place_.on_node(to) ? creation_traffic_.node : creation_traffic_.remote;
  ++sent.count;
  sent.bytes += message.size();
  return peers().send(to, kCreation, message);
}

Result<void> Runtime::send_block(ProcId to, const bootstrap::Block& block) {
  const bool counts =
      block.kind != bootstrap::BlockKind::question && block.kind != bootstrap::BlockKind::answer;
  return bootstrap::send_pieces(block,
                                place_.on_node(to) ? bootstrap::kNodeMessageBytes : remote_message_bytes(),
                                [&](std::span<const std::byte> message) {
                                  return counts ? send(to, message) : peers().send(to, kCreation, message);
                                });
}

void Runtime::receive(peer::Peer& from, std::span<const std::byte> message) noexcept {
  const auto payload = peers().payload(from, message);
  if (!payload) return;
  if (!bootstrap::is_piece(*payload)) {
    bootstrap_->on_control(from.proc, *payload);
  } else if (auto block = blocks_.take(from.proc, *payload)) {
    bootstrap_->on_block(from.proc, std::move(*block));
  }
}

Result<void> Runtime::wait(const std::function<bool()>& ready, Deadline deadline,
                           const std::function<std::string()>& what) {
  return waits_.wait_for_others(ready, deadline, what);
}

Result<void> Runtime::fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline,
                            const std::function<bool()>& needless) {
  return fences_.meet(ranks, tag, deadline, needless);
}

Result<void> Runtime::pause(std::uint64_t ns, const std::function<std::string()>& what) {
  auto waited = wait([] { return false; }, Deadline::after_ns(ns), what);
  if (!waited && waited.error().code != Errc::timed_out) return waited;
  return {};
}

// Of this node, as mpiexec marks them; elsewhere, those that a transport has a connection to. Who has ended
// in order is not meant: it may have had its part in the creation that others are still waiting for.
std::optional<ProcId> Runtime::dead_among(const ProcList& members) noexcept {
  if (const auto dead = peers().dead_among(members)) return dead;
  return place_.dead_among(members);
}

Result<void> Runtime::know_place() {
  if (placed_ == Placed::alone) {
    placed_ = Placed::asking;
    auto moved = phases_.time("place on the node", [this] { return move_to_node(); });
    placed_ = moved ? Placed::on_node : Placed::refused;
    if (!moved) refused_place_ = std::move(moved).error();
    polling().wake();  // threads that have come here meanwhile
  }
  if (placed_ == Placed::asking) {
    auto waited =
        wait([this] { return placed_ != Placed::asking; }, Deadline{},
             [] { return std::string("waits for another thread, which finds out who is on which node"); });
    if (!waited) return waited;
  }
  if (placed_ == Placed::refused) return fail(*refused_place_);
  return {};
}

Result<void> Runtime::move_to_node() {
  const auto seconds = static_cast<std::uint64_t>(environment_.params.integer(bootstrap::kTimeout));
  const Deadline deadline = Deadline::after_seconds(seconds);
  auto found = exchange_node_map(*pmi_, node_identity(environment_.params),
                                 [&] { return fence({}, {}, deadline, {}); });
  if (!found) {
    return fail(std::move(found).error().within(
        "the process manager (" + pmi_->capabilities().server +
        ") does not say which rank is on which node, so every process of the job must make a communicator of "
        "more than itself, or none"));
  }
  polling().wake();  // who sleeps on the doorbell of the lone segment goes on to the node's
  progress_thread_.disarm();
  if (auto moved = place_.move(std::move(*found)); !moved) return moved;
  settle();
  polling().sleeper().follow();
  return create_node_transports();
}

void Runtime::drain(const char* call) {
  const auto what = [call] { return std::string(call) + ": waits until everything that was sent has left"; };
  const Waiting waiting(what);
  const auto drained = [this] { return peers().drained(); };
  if (waits_.wait_until(Deadline::after_ns(kDrainNoticeNs), drained)) return;
  std::string text =
      std::string(call) + " has waited 10 s for messages to leave this process, and goes on waiting:";
  for (const std::string& line : waits_.hang_help().waiting_for()) text += "\n  " + line;
  log::warning(text);
  waits_.wait(drained);
}

void Runtime::set_idle(bool idle) noexcept {
  peers().set_idle(idle);
  pmi_->set_active(!idle);
  if (idle) {
    place_.segment().leave();
    if (world_is_near_ || world_is_known_) pmi_->take_leave();
  } else {
    place_.segment().enter();
  }
}

void Runtime::abort(int exit_code, const std::string& message) noexcept {
  place_.segment_complete();  // the job ends: no name may stay behind
  abort_job(pmi_.get(), exit_code, message);
}

void Runtime::at_exit() noexcept {
  // A forked child inherits this handler but not the job: it must not speak for its parent.
  if (instance_ == nullptr || instance_->pid_ != ::getpid()) return;
  // Other threads may be in MPI, and go on until the process is gone: from here on they wait for this lock.
  BigLock& lock = registry().lock;
  if (lock.enabled() && !lock.acquire_within(kExitNs)) return;
  instance_->progress_thread_.stop();
  instance_->close();
}

// Nothing is taken down, but a process manager that wants to hear the end in order hears it.
void Runtime::at_quick_exit() noexcept {
  if (instance_ == nullptr || instance_->pid_ != ::getpid()) return;
  if (!registry().active.load(std::memory_order_acquire)) instance_->pmi_->process_ends();
}

void Runtime::close() noexcept {
  if (registry().active.load(std::memory_order_acquire)) {
    // Threads may sleep in MPI without the lock, on what would be taken down here: the system does that.
    // Names alone would stay.
    place_.drop_names();
    return;
  }
  bootstrap_.reset();
  transports_.clear();
  pml_.reset();
  allocated_memory_.stop_sharing();
  place_.close();
  pmi_.reset();
}

}  // namespace starling::mpi
