// SPDX-License-Identifier: BSD-3-Clause
// A PMIx client: requests and answers. Layer: plugin. See docs/design/pmi.md.
//
// Hard here: servers differ in what a get without a fence answers. One without flags is answered when the
// peer has committed, wherever it is, and disturbs nothing while it waits; so each key is asked for once, and
// the caller is told "not yet" until then. "Not found" means that the peer has committed something else: it
// is asked again.

#include "plugins/pmi/pmix/component.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/drain.hpp"
#include "core/flush.hpp"
#include "core/log.hpp"
#include "core/service_thread.hpp"
#include "plugins/pmi/pmix/values.hpp"

namespace starling::pmi::pmix {
namespace {

/// How long a get waits for an answer before it says "not yet": a local server needs 0.1 ms.
constexpr std::uint64_t kAnswerNs = 2'000'000u;
constexpr std::uint64_t kAskAgainNs = 20'000'000u;
/// A process that has used MPI again so often will do so once more: it keeps the connection meanwhile.
constexpr std::uint32_t kKeptAfterReturns = 2;
constexpr std::uint64_t kReadGraceNs = 500'000'000u;     ///< as in pmi1: until what was printed has been read
constexpr std::uint64_t kAbortGraceNs = 1'000'000'000u;  ///< until the launcher ends this process
constexpr std::uint64_t kNoticeNs = 5'000'000'000u;      ///< for MPI to see that the launcher is gone
constexpr int kLauncherLostExit = 113;                   ///< as where MPI sees it
constexpr char kServerLost[] = "the connection to the PMIx server was lost (the launcher ended)";

/// Whom libpmix tells that its server is gone: an event handler gets no pointer of ours. One process has one
/// connection at most.
std::atomic<Inbox*> listener{nullptr};
std::atomic<std::uint64_t> listeners{0};  ///< how many there have been

void listen(Inbox* inbox) noexcept {
  listeners.fetch_add(1, std::memory_order_relaxed);
  listener.store(inbox, std::memory_order_release);
}

/// A program that computes, or waits for something else than MPI, would stay for ever when its launcher has
/// been killed: nobody is left who ends it. MPI itself comes first, which may be ending just now. `of`: the
/// count of listeners before the one was asked for that has heard of the loss.
void end_unless_noticed(std::uint64_t of) noexcept {
  const auto watch = [of] {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kNoticeNs));
    if (listeners.load(std::memory_order_relaxed) != of) return;
    log::error(std::string("the launcher is gone, so this process ends: ") + kServerLost);
    flush_streams();
    ::_exit(kLauncherLostExit);
  };
  // Without room for a thread the next call of MPI that waits sees it.
  if (auto thread = start_service_thread("starling-pmix", watch)) thread->detach();
}

void on_event(std::size_t, pmix_status_t status, const pmix_proc_t* lost, pmix_info_t[], std::size_t,
              pmix_info_t*, std::size_t, pmix_event_notification_cbfunc_fn_t done, void* cbdata) {
  const std::uint64_t of = listeners.load(std::memory_order_acquire);
  Inbox* const inbox = listener.load(std::memory_order_acquire);
  if (inbox != nullptr && status == PMIX_ERR_LOST_CONNECTION && Inbox::on_lost_connection(*inbox, lost))
    end_unless_noticed(of);
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

}  // namespace

Result<std::unique_ptr<Component>> Pmix::make(const Library& library, const Getenv& get) {
  std::unique_ptr<Pmix> component(new Pmix(library));
  if (component->inbox_->fd() < 0) return fail(system_error(kPmix, "eventfd", errno));
  if (auto done = component->connect(); !done) return fail(std::move(done).error());
  if (auto done = component->identify(get); !done) {
    component->disconnect();
    return fail(std::move(done).error());
  }
  return std::unique_ptr<Component>(std::move(component));
}

Pmix::~Pmix() {
  if (!active_) disconnect();
  if (!connected_) return;
  // The process ends while MPI is in use: the launcher shall see a failure. libpmix's thread may still
  // deliver.
  listen(nullptr);
  (void)inbox_.release();
}

Unexpected Pmix::refused(const char* what, pmix_status_t status) const {
  const char* const words = library_.Error_string(status);
  return fail(Errc::system, kPmix,
              std::string(what) + ": the process manager answered " + (words != nullptr ? words : "nothing") +
                  " (" + std::to_string(status) + ")");
}

Result<void> Pmix::connect() {
  if (const pmix_status_t status = library_.Init(&self_, nullptr, 0); status != PMIX_SUCCESS) {
    return refused("cannot connect to the PMIx server that the environment names", status);
  }
  connected_ = true;
  inbox_->set_job(self_.nspace);
  listen(inbox_.get());
  pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
  (void)library_.Register_event_handler(&lost, 1, nullptr, 0, &on_event, nullptr, nullptr);
  return {};
}

void Pmix::disconnect() noexcept {
  if (!connected_) return;
  connected_ = false;
  listen(nullptr);
  (void)library_.Finalize(nullptr, 0);
  inbox_->drop_all();
}

Result<void> Pmix::store(const std::string& key, std::span<const std::byte> value) {
  pmix_value_t stored = bytes_value(value);
  if (const pmix_status_t status = library_.Put(PMIX_GLOBAL, key.c_str(), &stored); status != PMIX_SUCCESS) {
    return refused("cannot store a value", status);
  }
  if (const pmix_status_t status = library_.Commit(); status != PMIX_SUCCESS) {
    return refused("cannot commit a value", status);
  }
  return {};
}

Result<void> Pmix::put(std::string_view key, std::span<const std::byte> value) {
  if (broken_) return fail(*broken_);
  if (value.size() > kMaxValueBytes) return fail(Errc::no_space, kPmix, "a value is longer than 64 KiB");
  const auto [kept, added] = own_.insert_or_assign(std::string(key), std::vector(value.begin(), value.end()));
  ++counters_.puts;
  counters_.bytes_sent += value.size();
  return store(kept->first, kept->second);
}

Result<void> Pmix::ask(std::uint32_t rank, const std::string& key) {
  Inbox::Ticket* ticket = nullptr;
  {
    const std::scoped_lock lock(inbox_->mutex());
    ticket = &inbox_->ticket(rank, key);
    if (ticket->asked || (ticket->answer && !ticket->again)) return {};
    if (ticket->again && !ticket->again->passed()) return {};
    ticket->asked = true;
    ticket->answer.reset();
    ticket->again.reset();
  }
  ++counters_.gets;
  // Without the lock: the answer may come from within.
  const pmix_proc_t peer = proc_of(self_.nspace, rank);
  const pmix_status_t status = library_.Get_nb(&peer, ticket->key, nullptr, 0, &Inbox::on_value, ticket);
  if (status == PMIX_SUCCESS) return {};
  if (status == PMIX_ERR_NOT_FOUND) {
    Inbox::on_value(status, nullptr, ticket);
    return {};
  }
  const std::scoped_lock lock(inbox_->mutex());
  inbox_->drop(rank, key);
  return refused("cannot ask for a value", status);
}

Result<Lookup> Pmix::get(std::uint32_t rank, std::string_view key) {
  if (broken_) return fail(*broken_);
  if (rank >= identity_.size) {
    return fail(
        Errc::not_found, kPmix,
        "there is no rank " + std::to_string(rank) + "; the job has " + std::to_string(identity_.size));
  }
  const std::string name(key);
  if (auto asked = ask(rank, name); !asked) return fail(std::move(asked).error());
  inbox_->drain();
  std::unique_lock lock(inbox_->mutex());
  Inbox::Ticket& ticket = inbox_->ticket(rank, name);
  if (ticket.asked) inbox_->wait(lock, kAnswerNs);
  if (ticket.answer == PMIX_SUCCESS) {
    Lookup found{Found::value, std::move(ticket.value)};
    inbox_->drop(rank, name);
    counters_.bytes_received += found.value.size();
    return found;
  }
  if (ticket.asked || ticket.answer == PMIX_ERR_NOT_FOUND) {
    if (!ticket.asked && !ticket.again) ticket.again = Deadline::after_ns(kAskAgainNs);
    ++counters_.early_gets;
    return Lookup{Found::not_yet, {}};
  }
  const pmix_status_t status = *ticket.answer;
  inbox_->drop(rank, name);
  if (status == PMIX_ERR_LOST_CONNECTION) return Lookup{Found::none, {}};  // that rank has ended
  return refused("cannot get a value", status);
}

Result<void> Pmix::fence(Deadline deadline) {
  auto entered = fence_enter({}, {}, deadline);
  if (!entered) return fail(std::move(entered).error());
  for (;;) {
    auto left = fence_left(*entered);
    if (!left) return fail(std::move(left).error());
    if (*left) return {};
    if (deadline.passed()) {
      fence_abandon(*entered);
      return fail(Errc::timed_out, kPmix, "a fence was not completed in time: some process did not come");
    }
    std::unique_lock lock(inbox_->mutex());
    inbox_->wait(lock, kAnswerNs);
  }
}

Result<void> Pmix::fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline) {
  if (ranks.empty()) return fence(deadline);
  auto entered = fence_enter(ranks, tag, deadline);
  if (!entered) return fail(std::move(entered).error());
  return {};
}

Result<Fence> Pmix::fence_enter(std::span<const std::uint32_t> ranks, std::string_view, Deadline) {
  if (broken_) return fail(*broken_);
  if (ranks.size() == 1) return Fence{};
  // Fences of some ranks hang under Slurm and have no tag anywhere; gets without a fence make them
  // unnecessary.
  if (!ranks.empty()) return fail(Errc::unsupported, kPmix, "fences of subsets are not used over PMIx");
  ++counters_.fences;
  ++fence_;
  entries_left_ = returns_ == 0 ? 0 : kKeptAfterReturns * (identity_.size - 1);
  entered_again_ = false;
  if (auto entered = enter_fence(); !entered) return fail(std::move(entered).error());
  return Fence{fence_};
}

Result<void> Pmix::enter_fence() {
  fence_open_ = true;
  inbox_->begin_fence();
  const pmix_proc_t everybody = proc_of(self_.nspace, PMIX_RANK_WILDCARD);
  const pmix_info_t collect =
      flag(PMIX_COLLECT_DATA);  // without it a fence over nodes is no barrier under Slurm
  const pmix_status_t status = library_.Fence_nb(&everybody, 1, &collect, 1, &Inbox::on_fence, inbox_.get());
  if (status == PMIX_OPERATION_SUCCEEDED) {
    Inbox::on_fence(PMIX_SUCCESS, inbox_.get());
  } else if (status != PMIX_SUCCESS) {
    fence_open_ = false;
    return refused("cannot enter a fence", status);
  }
  return {};
}

Result<bool> Pmix::fence_left(Fence fence) {
  if (fence.number == Fence::kLeft) return true;
  if (auto alive = check(); !alive) return fail(std::move(alive).error());
  const auto answer = inbox_->fence_answer();
  if (!answer) return false;
  const bool without_some = *answer == PMIX_ERR_PARTIAL_SUCCESS || *answer == PMIX_ERR_LOST_CONNECTION;
  // The server ends a fence also for a process that closes its connection when MPI ends there. Who has done
  // so itself, and is back sooner, enters again: for who comes back the server waits, for a dead one it
  // refuses.
  if (without_some && entries_left_ != 0) {
    --entries_left_;
    entered_again_ = true;
    if (enter_fence()) return false;
  }
  fence_open_ = false;
  if (*answer == PMIX_SUCCESS) {
    inbox_->give_up_open();  // all that was put is at hand now: a question that got lost is asked again
    return true;
  }
  if (without_some || entered_again_) {
    return fail(Errc::peer_lost, kPmix, "a process ended while a fence waited for it");
  }
  return refused("a fence failed", *answer);
}

void Pmix::fence_abandon(Fence fence) noexcept {
  if (fence.number == Fence::kLeft || !fence_open_) return;
  broken_ =
      Error{Errc::timed_out, kPmix, "an earlier fence timed out, so fences can no longer be told apart"};
}

Result<void> Pmix::publish(std::string_view name, std::string_view port) {
  ++counters_.other;
  const std::string text(port);
  const pmix_info_t info = text_info(name, text);
  const pmix_status_t status = library_.Publish(&info, 1);
  if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED) return {};
  return refused(("cannot publish the name " + std::string(name)).c_str(), status);
}

Result<std::string> Pmix::lookup(std::string_view name) {
  ++counters_.other;
  pmix_pdata_t asked{};
  std::copy_n(name.data(), std::min(name.size(), sizeof asked.key - 1), asked.key);
  const pmix_status_t status = library_.Lookup(&asked, 1, nullptr, 0);
  const std::optional<std::string> port =
      status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED ? text_of(asked.value) : std::nullopt;
  library_.Value_destruct(&asked.value);
  if (port) return *port;
  if (status == PMIX_SUCCESS || status == PMIX_ERR_NOT_FOUND) {
    return fail(Errc::not_found, kPmix, "the name " + std::string(name) + " is not published");
  }
  return refused(("cannot look up the name " + std::string(name)).c_str(), status);
}

Result<void> Pmix::unpublish(std::string_view name) {
  ++counters_.other;
  std::string key(name);
  char* keys[] = {key.data(), nullptr};
  const pmix_status_t status = library_.Unpublish(keys, nullptr, 0);
  if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED) return {};
  if (status == PMIX_ERR_NOT_FOUND)
    return fail(Errc::not_found, kPmix, "the name " + std::string(name) + " is not published");
  return refused(("cannot unpublish the name " + std::string(name)).c_str(), status);
}

void Pmix::set_active(bool active) noexcept {
  if (active == active_) return;
  active_ = active;
  if (!active && returns_ >= kKeptAfterReturns) return;
  if (active) ++returns_;
  if (active == connected_) return;
  ++counters_.other;
  if (!active) {
    disconnect();
    return;
  }
  Result<void> done = connect();
  // Servers forget what a client put before it finalized.
  for (const auto& [key, value] : own_) {
    if (done) done = store(key, value);
  }
  if (!done) broken_ = std::move(done).error();
}

void Pmix::abort(int exit_code, std::string_view message) noexcept {
  const Deadline until_read = Deadline::after_ns(kReadGraceNs);
  (void)(await_read(STDERR_FILENO, until_read) && await_read(STDOUT_FILENO, until_read));
  if (!connected_) return;
  const std::string text(message.substr(0, 4096));
  if (library_.Abort(exit_code, text.c_str(), nullptr, 0) != PMIX_SUCCESS) return;
  std::this_thread::sleep_for(std::chrono::nanoseconds(kAbortGraceNs));
}

Result<void> Pmix::check() {
  inbox_->drain();
  if (!inbox_->server_lost()) return {};
  return fail(Errc::peer_lost, kPmix, kServerLost);
}

}  // namespace starling::pmi::pmix
