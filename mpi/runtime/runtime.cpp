// SPDX-License-Identifier: BSD-3-Clause
// Building the runtime. What is hard: nothing here may be collective or of the size of the job, and every
// refusal must say why. The order of steps is that of docs/design/ARCHITECTURE.md, "How a job starts".
// Layer: mpi.

#include "mpi/runtime/runtime.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>

#include "core/clock.hpp"
#include "core/flush.hpp"
#include "core/log.hpp"
#include "core/standard_descriptors.hpp"
#include "frameworks/pmi/launchers.hpp"
#include "frameworks/stuck.hpp"
#include "mpi/coll/tuning.hpp"
#include "mpi/process/registry.hpp"
#include "mpi/runtime/abort.hpp"
#include "mpi/runtime/self.hpp"
#include "mpi/runtime/waiting.hpp"
#include "params/core_params.hpp"

namespace starling::mpi {

namespace {

/// How long exit() waits for threads that are in MPI and do not come to a place where they could stop.
constexpr std::uint64_t kExitNs = 1'000'000'000;

constexpr std::uint64_t kDrainNoticeNs = 10'000'000'000;

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
    : waits_(place_, pmi_, progress_thread_),
      environment_(environment),
      pid_(::getpid()),
      pmi_(std::move(pmi), registry().lock, turns_),
      place_(environment, pmi_),
      receive_buffers_(environment.params, allocated_memory_),
      transports_(environment, place_, polling(), std::hash<std::string>{}(pmi_.identity().job)),
      control_channel_(pmi_, place_, waits_, transports_),
      background_(environment.params, place_, waits_, progress_thread_),
      seating_({environment, pmi_, place_, waits_, control_channel_.fences(), transports_, allocated_memory_,
                phases_}),
      builder_(environment, pmi_, place_, transports_, seating_, phases_) {
  note_for_abort(&pmi_);
  if (pmi_.wait_fd() >= 0) pmi::leave_mark();  // a process manager serves this process, but not its children
  if (pmi_.wait_fd() >= 0 || place_.world_size() > 1) write_lines_at_once();  // as with other MPIs
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
    keep_for_abort(runtime->pmi_.release());
    return fail(std::move(started).error());
  }
  return runtime;
}

Result<void> Runtime::start() {
  const auto step = [this](const char* name, auto&& run) { return phases_.time(name, run); };
  if (auto done = step("parameter check", [this] { return check_parameters(); }); !done) return done;
  if (auto done = step("place on the node", [this] { return seating_.find(); }); !done) return done;
  if (auto done = step("shared segment", [this] { return seating_.attach(); }); !done) return done;
  if (auto done = step("pml and transports", [this] { return create_transports(); }); !done) return done;
  if (auto done = step("bootstrap", [this] { return builder_.open(control_channel_, polling()); }); !done)
    return done;
  if (self().rank == 0) {  // once per job
    for (const std::string& line : environment_.plugins.left_out()) log::warning("plugin left out: " + line);
  }
  return {};
}

Result<void> Runtime::create_transports() {
  auto made = environment_.plugins.create_first<pml::Framework>(
      {environment_.params, peers(), self(), place_.world_size()});
  if (!made) return fail(std::move(made).error());
  pml_ = std::move(*made);
  waits_.hang_help().set_pml(*pml_);
  if (auto opened = control_channel_.open(); !opened) return opened;
  return transports_.create(seating_.known());
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
  pmi_.set_active(!idle);
  if (idle) {
    place_.segment().leave();
    if (transports_.world_is_near() || builder_.world_is_known()) pmi_.take_leave();
  } else {
    place_.segment().enter();
  }
}

void Runtime::abort(int exit_code, const std::string& message) noexcept {
  place_.segment_complete();  // the job ends: no name may stay behind
  abort_job(&pmi_, exit_code, message);
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
  if (!registry().active.load(std::memory_order_acquire)) instance_->pmi_.process_ends();
}

void Runtime::close() noexcept {
  if (registry().active.load(std::memory_order_acquire)) {
    // Threads may sleep in MPI without the lock, on what would be taken down here: the system does that.
    // Names alone would stay.
    place_.drop_names();
    return;
  }
  builder_.close();
  transports_.close();
  pml_.reset();
  allocated_memory_.stop_sharing();
  place_.close();
  (void)pmi_.release();
}

}  // namespace starling::mpi
