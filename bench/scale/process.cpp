// SPDX-License-Identifier: BSD-3-Clause
// A simulated process. What is hard: its own time runs ahead of the world's while it works, so before it
// looks at its mail it stops until the world has caught up: others may have sent meanwhile. Layer: bench.

#include "bench/scale/process.hpp"

#include <algorithm>
#include <ctime>

#include "frameworks/bootstrap/pieces.hpp"
#include "frameworks/peer/table.hpp"
#include "mpi/runtime/plan.hpp"

namespace starling::scale {
namespace {

double compute_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The control messages that carry it, and their bytes.
struct Load {
  std::uint64_t messages = 1, bytes = 0;
};
Load load_of(const Mail& mail, bool here, const Setup& setup) {
  if (const auto* const message = std::get_if<std::vector<std::byte>>(&mail)) return {1, message->size()};
  const auto& bytes = std::get<bootstrap::Block>(mail).bytes;
  const std::uint64_t size = bytes == nullptr ? 0 : bytes->size();
  const std::size_t longest = here ? bootstrap::kNodeMessageBytes : setup.message_bytes;
  return {bootstrap::pieces_of(size, longest), bootstrap::wire_bytes_of(size, longest)};
}

/// Of a process that sends or receives it.
std::uint64_t time_for(const Load& load, bool here, const Costs& costs) {
  if (here) return load.messages * ns_of_us(costs.shm_message_us);
  return load.messages * ns_of_us(costs.net_message_us) +
         static_cast<std::uint64_t>(static_cast<double>(load.bytes) / costs.net_copy_gbyte_s);
}

/// What the runtime would plan for a world: over one network if it has several nodes.
mpi::StartupPlan plan_of(const Setup& setup) {
  mpi::PlanInput input;
  if (setup.ranks > setup.per_node)
    input.transports.push_back({setup.transport, {.address = btl::AddressSource::published}});
  input.pmi = setup.pmi;
  input.roots_tree = setup.roots_tree;
  input.group_mode = setup.group_mode;
  input.members = setup.ranks;
  input.async_modex = setup.async_modex;
  return mpi::make_plan(input);
}

}  // namespace

Result<std::uint64_t> Process::CopyingStore::keep(const bootstrap::SharedBytes& bytes) {
  const double ns = static_cast<double>(bytes->size()) / process_.world_.setup().costs.copy_gbyte_s;
  process_.spend(static_cast<std::uint64_t>(ns));
  return process_.world_.store(process_.rank_).keep(bytes);
}

std::span<const std::byte> Process::CopyingStore::at(std::uint64_t place, std::size_t bytes) const {
  return process_.world_.store(process_.rank_).at(place, bytes);
}

Process::Process(World& world, std::uint32_t rank, Stacks& stacks)
    : world_(world), rank_(rank), client_(*this), store_(*this), fiber_(stacks, rank, [this] { run(); }) {}

void Process::run() {
  using Exchange = mpi::StartupPlan::Exchange;
  const Setup& setup = world_.setup();
  std::vector<std::byte> address(setup.address_bytes, std::byte(rank_ % 251));
  if (auto published = component_->publish({{setup.transport, std::move(address)}}); !published) {
    result_ = fail(std::move(published).error());
    return;
  }
  const mpi::StartupPlan plan = plan_of(setup);
  bootstrap::Creation creation{world_.members(), "org.starling.world"};
  creation.exchange = plan.exchange == Exchange::fence || plan.exchange == Exchange::tree;
  creation.lookup = plan.exchange == Exchange::direct;
  result_ = component_->create(creation, Deadline{});
}

void Process::start() {
  clock_ = world_.now();
  resume();
}

void Process::resume() {
  ++stops_;
  open_ = false;
  clock_ = std::max(clock_, world_.now());
  const double begin = world_.setup().compute ? compute_seconds() : 0;
  fiber_.resume();
  if (world_.setup().compute) compute_s_ += compute_seconds() - begin;
}

void Process::stop_until(std::uint64_t time_ns, bool for_mail) {
  open_ = for_mail;
  if (time_ns != kNever) {
    world_.at(time_ns, [this, stop = stops_] {
      if (stop == stops_) resume();
    });
  }
  fiber_.stop();
}

void Process::ask(std::uint64_t bytes, std::function<void()> serve) {
  world_.request(clock_, bytes, std::move(serve), [this] { resume(); });
  fiber_.stop();
}

void Process::arrived(std::uint32_t from, Mail mail) {
  inbox_.push_back({from, std::move(mail)});
  look();
}

void Process::look() {
  if (open_) resume();
}

Result<void> Process::send(ProcId to, std::span<const std::byte> message) {
  return post(to, std::vector<std::byte>(message.begin(), message.end()));
}

Result<void> Process::send_block(ProcId to, const bootstrap::Block& block) { return post(to, block); }

Result<void> Process::post(ProcId to, Mail mail) {
  const bool here = world_.node_of(to.rank) == world_.node_of(rank_);
  const Load load = load_of(mail, here, world_.setup());
  (here ? sent_.node_messages : sent_.remote_messages) += load.messages;
  (here ? sent_.node_bytes : sent_.remote_bytes) += load.bytes;
  if (!here) {
    auto reached = reachable(to.rank);
    if (!reached) return fail(std::move(reached).error());
    if (!*reached) {
      awaited_[to.rank].queue.push_back(std::move(mail));
      return {};
    }
  }
  transmit(to.rank, std::move(mail));
  return {};
}

/// Asks for the address at first contact, and again when it is time to.
Result<bool> Process::reachable(std::uint32_t to) {
  if (connected_.contains(to)) return true;
  const auto known = awaited_.find(to);
  if (known != awaited_.end() && clock_ < known->second.ask_at_ns) return false;
  auto found = component_->address({0, to}, world_.setup().transport);
  if (!found) return fail(std::move(found).error());
  if (found->what == btl::Found::What::none)
    return fail(Errc::unsupported, "pml", "rank " + std::to_string(to) + " has no address");
  if (found->what == btl::Found::What::address) {
    connected_.insert(to);
    return true;
  }
  Awaited& awaited = awaited_[to];
  if (awaited.asked_ns == 0) awaited.asked_ns = clock_;
  awaited.ask_at_ns = clock_ + peer::pause_before_asking_ns(clock_ - awaited.asked_ns);
  return false;
}

void Process::transmit(std::uint32_t to, Mail mail) {
  const bool here = world_.node_of(to) == world_.node_of(rank_);
  const Load load = load_of(mail, here, world_.setup());
  const std::uint64_t begin = clock_;
  spend(time_for(load, here, world_.setup().costs));
  const std::uint64_t there = world_.arrival(rank_, to, load.bytes, begin, clock_);
  world_.at(there, [this, to, mail = std::move(mail)]() mutable {
    world_.process(to).arrived(rank_, std::move(mail));
  });
}

std::uint64_t Process::next_question() const noexcept {
  std::uint64_t next = kNever;
  for (const auto& [rank, awaited] : awaited_) next = std::min(next, awaited.ask_at_ns);
  return next;
}

Result<void> Process::ask_again() {
  while (next_question() <= clock_) {
    const auto due = std::find_if(awaited_.begin(), awaited_.end(),
                                  [this](const auto& at) { return at.second.ask_at_ns <= clock_; });
    const std::uint32_t to = due->first;
    auto reached = reachable(to);
    if (!reached) return fail(std::move(reached).error());
    if (!*reached) continue;
    std::deque<Mail> queue = std::move(awaited_[to].queue);
    awaited_.erase(to);
    for (Mail& mail : queue) transmit(to, std::move(mail));
  }
  return {};
}

void Process::deliver() {
  const Costs& costs = world_.setup().costs;
  while (!inbox_.empty()) {
    Arrived next = std::move(inbox_.front());
    inbox_.pop_front();
    const bool here = world_.node_of(next.from) == world_.node_of(rank_);
    spend(time_for(load_of(next.mail, here, world_.setup()), here, costs));
    if (auto* const block = std::get_if<bootstrap::Block>(&next.mail)) {
      component_->on_block({0, next.from}, std::move(*block));
    } else {
      component_->on_control({0, next.from}, std::get<std::vector<std::byte>>(next.mail));
    }
  }
}

Result<void> Process::progress_until(const std::function<bool()>& ready, std::uint64_t end_ns) {
  for (;;) {
    if (clock_ > world_.now()) stop_until(clock_, false);
    deliver();
    if (auto asked = ask_again(); !asked) return asked;
    if (ready() || clock_ >= end_ns) return {};
    if (clock_ == world_.now()) stop_until(std::min(next_question(), end_ns), true);
  }
}

Result<void> Process::wait(const std::function<bool()>& ready, Deadline,
                           const std::function<std::string()>& what) {
  what_ = &what;
  auto waited = progress_until(ready, kNever);
  what_ = nullptr;
  return waited;
}

Result<void> Process::pause(std::uint64_t ns, const std::function<std::string()>& what) {
  what_ = &what;
  auto waited = progress_until([] { return false; }, clock_ + ns);
  what_ = nullptr;
  return waited;
}

Result<void> Process::fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline,
                            const std::function<bool()>& needless) {
  auto entered = client_.fence_enter(ranks, tag, deadline);
  if (!entered) return fail(std::move(entered).error());
  return wait([&] { return *client_.fence_left(*entered) || (needless && needless()); }, deadline,
              [] { return std::string("a fence of the process manager"); });
}

}  // namespace starling::scale
