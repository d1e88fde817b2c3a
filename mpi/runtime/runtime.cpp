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
#include "mpi/runtime/self.hpp"
#include "params/core_params.hpp"

namespace starling::mpi {

namespace {

/// How long exit() waits for threads that are in MPI and do not come to a place where they could stop.
constexpr std::uint64_t kExitNs = 1'000'000'000;

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

Result<std::unique_ptr<Runtime>> Runtime::build() {
  const std::uint64_t begin = now_ns();
  fill_standard_descriptors(Filling::refuses);  // or the segment becomes what the program prints into
  auto environment = mpi::environment();
  if (!environment) return fail(std::move(environment).error());
  std::unique_ptr<Runtime> runtime(new Runtime(**environment));
  runtime->pid_ = ::getpid();
  runtime->phases_.push_back({"parameters and plugin index", now_ns() - begin});
  plugin::set_end_of_stuck(&end_stuck);
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
      {"process manager", &Runtime::connect_pmi},          {"parameter check", &Runtime::check_parameters},
      {"place on the node", &Runtime::find_place},         {"shared segment", &Runtime::attach_segment},
      {"pml and transports", &Runtime::create_transports}, {"bootstrap", &Runtime::create_bootstrap},
  };
  for (const Step& step : kSteps) {
    const std::uint64_t begin = now_ns();
    if (auto done = (this->*step.run)(); !done) return done;
    phases_.push_back({step.name, now_ns() - begin});
  }
  return {};
}

Result<void> Runtime::connect_pmi() {
  auto made = environment_.plugins.create_first<pmi::Framework>({environment_.params});
  if (!made) return fail(std::move(made).error());
  pmi_ = std::move(*made);
  note_for_abort(pmi_.get());
  const pmi::Identity& identity = pmi_->identity();
  self_ = ProcId{0, identity.rank};
  world_size_ = identity.size;
  if (pmi_->wait_fd() >= 0) pmi::leave_mark();  // a process manager serves this process, but not its children
  if (world_size_ > 1) log::set_prefix("[starling rank " + std::to_string(self_.rank) + "]");
  return {};
}

Result<void> Runtime::check_parameters() {
  if (auto tuning = coll::Tuning::from(environment_.params); !tuning) return fail(std::move(tuning).error());
  auto unknown = params::unknown_names(environment_.params);
  if (!unknown) return fail(std::move(unknown).error());
  if (self_.rank != 0) return {};  // once per job
  for (const std::string& line : *unknown) log::warning(line);
  const auto places = params::Places::of_this_process(environment_.prefix);
  for (const std::string& line : params::files_not_read(places)) log::warning(line);
  for (const std::string& line : environment_.plugins.refused_directories())
    log::warning("plugin directory not searched: " + line);
  return {};
}

Result<void> Runtime::create_bootstrap() {
  store_.emplace(segment_);
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  terms_ = bootstrap::Terms::of(environment_.params,
                                "Starling " STARLING_VERSION ", built with " STARLING_COMPILER,
                                "rank " + std::to_string(self_.rank) + " of " + host);
  // Members whom only a network reaches meet as if each had a node of its own: their addresses go around.
  if (!near_reaches_node_) lone_nodes_.emplace(NodeMap(std::vector<NodeMap::Block>{{0, world_size_, 1}}));
  const NodeMap* const nodes = lone_nodes_ ? &*lone_nodes_ : &nodes_;
  auto made = environment_.plugins.create_first<bootstrap::Framework>(
      {environment_.params, *pmi_, *this, self_, world_size_, world_size_ == 1 ? nullptr : nodes,
       lone_nodes_ ? nullptr : &*store_, &terms_},
      &bootstrap_name_);
  if (!made) return fail(std::move(made).error());
  bootstrap_ = std::move(*made);
  peers_.set_address_book(bootstrap_.get());
  return {};
}

bool Runtime::on_node(ProcId proc) const noexcept {
  return proc.world == self_.world && std::binary_search(node_ranks_.begin(), node_ranks_.end(), proc.rank);
}

Result<void> Runtime::send(ProcId to, std::span<const std::byte> message) {
  auto& sent = on_node(to) ? creation_traffic_.node : creation_traffic_.remote;
  ++sent.count;
  sent.bytes += message.size();
  return peers_.send(to, kCreation, message);
}

Result<void> Runtime::send_block(ProcId to, const bootstrap::Block& block) {
  const bool counts =
      block.kind != bootstrap::BlockKind::question && block.kind != bootstrap::BlockKind::answer;
  return bootstrap::send_pieces(block, on_node(to) ? bootstrap::kNodeMessageBytes : remote_message_bytes(),
                                [&](std::span<const std::byte> message) {
                                  return counts ? send(to, message) : peers_.send(to, kCreation, message);
                                });
}

void Runtime::receive(peer::Peer& from, std::span<const std::byte> message) noexcept {
  const auto payload = peers_.payload(from, message);
  if (!payload) return;
  if (!bootstrap::is_piece(*payload)) {
    bootstrap_->on_control(from.proc, *payload);
  } else if (auto block = blocks_.take(from.proc, *payload)) {
    bootstrap_->on_block(from.proc, std::move(*block));
  }
}

void Runtime::set_idle(bool idle) noexcept {
  peers_.set_idle(idle);
  pmi_->set_active(!idle);
  if (idle) {
    segment_->leave();
    if (world_is_near_ || world_is_known_) pmi_->take_leave();
  } else {
    segment_->enter();
  }
}

void Runtime::abort(int exit_code, const std::string& message) noexcept {
  segment_complete();  // the job ends: no name may stay behind
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
    segment_giver_.reset();
    shm_.reset();
    return;
  }
  bootstrap_.reset();
  transports_.clear();
  pml_.reset();
  if (segment_ != nullptr) segment_->leave();
  allocated_memory_.stop_sharing();
  segment_.reset();
  segment_giver_.reset();
  shm_.reset();
  pmi_.reset();
}

}  // namespace starling::mpi
